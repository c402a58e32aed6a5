#include "backtest/log_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace gpuadvise {
namespace {

constexpr size_t kMostBytes = size_t{4} << 30;

}  // namespace

/// zlib reads plain files as they are.
Result<LogText> ReadLogFile(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  LogText read;
  std::vector<char> block(1 << 20);
  int count = 0;
  while ((count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()))) > 0) {
    read.text.append(block.data(), static_cast<size_t>(count));
    if (read.text.size() > kMostBytes) {
      return BadInput(fmt::format("{}: more than 4 GiB once unpacked; cut it into parts", path));
    }
  }
  int error = Z_OK;
  const char* words = gzerror(file.get(), &error);
  if (error != Z_OK && error != Z_STREAM_END) {
    read.cut_off = error == Z_ERRNO ? std::strerror(errno) : words;
    if (read.text.empty()) {
      return BadInput(fmt::format("{}: cannot be unpacked: {}", path, read.cut_off));
    }
  }
  return read;
}

}  // namespace gpuadvise
