#include "daemon/dashboard/compressed_answers.h"

#include <zlib.h>

#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/base/text.h"

namespace gpuadvise::daemon {
namespace {

constexpr int kGzipWindow = MAX_WBITS + 16;  // with gzip's own head and check sum
constexpr int kMemory = 8;                   // zlib's usual

}  // namespace

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string zipped(deflateBound(&stream, bytes.size()), '\0');
  // zlib does not write through next_in.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  const int status = deflate(&stream, Z_FINISH);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("an answer could not be compressed");
  return zipped;
}

bool TakesGzip(std::string_view accept_encoding) {
  for (const std::string_view coding : SplitAt(accept_encoding, ',')) {
    const std::vector<std::string_view> parts = SplitAt(coding, ';');
    if (LowerCase(Trim(parts.front())) != "gzip") continue;
    const std::string_view weight = parts.size() > 1 ? Trim(parts[1]) : "q=1";
    return weight.find_first_of("123456789") != std::string_view::npos;  // not "q=0.0"
  }
  return false;
}

void CompressedAnswers::Compress(const ApiRequest& request, ApiResponse& response) {
  response.fields.emplace_back("Vary", "Accept-Encoding");
  if (response.events != nullptr || response.Bytes().size() < kLeastBytes ||
      !TakesGzip(request.browser.accept_encoding)) {
    return;
  }
  if (response.shared_body != nullptr) {
    response.shared_body = CompressedShared(response.shared_body);
  } else {
    response.body = Gzip(response.body);
  }
  response.fields.emplace_back("Content-Encoding", "gzip");
}

CompressedAnswers::Text CompressedAnswers::CompressedShared(const Text& text) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(text); known != known_.end()) return known->second;
  }
  auto zipped = std::make_shared<const std::string>(Gzip(*text));  // perhaps twice at once
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& one) { return one.first.expired(); });
  return known_.emplace(text, std::move(zipped)).first->second;
}

}  // namespace gpuadvise::daemon
