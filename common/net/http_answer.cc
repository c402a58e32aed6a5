// The reading half, with Boost.Beast's parser; pure, for tests with damaged answers.
#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "common/base/text.h"
#include "common/net/http_call.h"

namespace gpuadvise {
namespace {

namespace http = boost::beast::http;
using Parser = http::response_parser<http::string_body>;

constexpr size_t kMostHeaderBytes = 64 << 10;
constexpr int kMostInterimHeads = 8;  // "100 Continue" before the answer; normally at most one

tl::unexpected<Error> NotHttp(const std::string& what) {
  return Fail(ErrorCode::kUnavailable, "its answer is not HTTP (" + what + ")");
}

tl::unexpected<Error> WhyNot(const boost::system::error_code& error, size_t most_body_bytes) {
  if (error == http::error::body_limit || error == http::error::buffer_overflow) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("its answer is larger than {} KiB", most_body_bytes >> 10));
  }
  if (error == http::error::header_limit) return NotHttp("no end of the header");
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return Fail(ErrorCode::kUnavailable, "it ended in the middle of its answer");
  }
  return NotHttp(error.message());
}

// Reads one head and its body. `bytes`: received, not yet parsed.
Result<void> ReadOne(Parser& parser, std::string& bytes, const MoreBytes& more,
                     size_t most_body_bytes) {
  boost::system::error_code error;
  while (!parser.is_done()) {
    if (bytes.empty() || error) {
      Result<std::string> got = more();
      if (!got) return tl::unexpected<Error>(std::move(got.error()));
      if (got->empty()) {
        error = http::error::end_of_stream;
        if (parser.got_some()) parser.put_eof(error);
        return error ? Result<void>(WhyNot(error, most_body_bytes)) : Result<void>();
      }
      bytes += *got;
    }
    bytes.erase(0, parser.put(boost::asio::buffer(bytes), error));
    if (error && error != http::error::need_more) return WhyNot(error, most_body_bytes);
    if (error && bytes.size() > kMostHeaderBytes) return NotHttp("a line without an end");
  }
  return {};
}

}  // namespace

std::string HttpAnswer::Field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

Result<HttpAnswer> ReadHttpAnswer(const MoreBytes& more, size_t most_body_bytes) {
  std::string bytes;
  for (int heads = 0; heads <= kMostInterimHeads; ++heads) {
    Parser parser;
    parser.eager(true);
    parser.body_limit(most_body_bytes);
    parser.header_limit(kMostHeaderBytes);
    if (Result<void> read = ReadOne(parser, bytes, more, most_body_bytes); !read) {
      return tl::unexpected<Error>(std::move(read.error()));
    }
    auto message = parser.release();
    const int status = static_cast<int>(message.result_int());
    if (status < 100 || status > 599) return NotHttp(fmt::format("status {}", status));
    if (status < 200) continue;
    HttpAnswer answer{status, std::move(message.body()), {}};
    for (const auto& field : message) {
      answer.fields.emplace(LowerCase(field.name_string()), field.value());
    }
    return answer;
  }
  return NotHttp("only interim answers, 100 Continue");
}

}  // namespace gpuadvise
