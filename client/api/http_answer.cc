// The reading half of the HTTP client: pure, so that tests can cut and bend answers.
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "client/api/http_client.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

constexpr size_t kMaxHeadBytes = 64 << 10;
constexpr int kMostInterimHeads = 8;  // "100 Continue" before the answer; one is usual

tl::unexpected<Error> NoHttp(const std::string& what) {
  return Fail(ErrorCode::kUnavailable,
              "the answer is not HTTP (" + what + "); does gpuadvised listen on this socket?");
}

// The value of header `name` (lower case) in the head's lines, if any.
std::optional<std::string_view> Header(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;) {
    const size_t start = at + 2;
    const size_t end = head.find("\r\n", start);
    const std::string_view line = head.substr(start, end - start);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && LowerCase(line.substr(0, colon)) == name) {
      return Trim(line.substr(colon + 1));
    }
    at = end;
  }
  return std::nullopt;
}

std::optional<size_t> Number(std::string_view digits, int base) {
  size_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || code != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<int> StatusOf(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return std::nullopt;
  const auto status = Number(line.substr(9, 3), 10);
  if (!status || *status < 100 || *status > 599) return std::nullopt;
  return static_cast<int>(*status);
}

// The chunks at the front of `rest`; complete with the last one, of no bytes.
Result<ParsedAnswer> Chunked(int status, std::string_view rest) {
  std::vector<std::string_view> chunks;
  for (;;) {
    const size_t line_end = rest.find("\r\n");
    if (line_end == std::string_view::npos) return ParsedAnswer{};
    const std::string_view line = rest.substr(0, line_end);
    const auto size = Number(Trim(line.substr(0, line.find(';'))), 16);
    if (!size || *size > kMaxAnswerBytes) return NoHttp("a bad chunk size");
    rest.remove_prefix(line_end + 2);
    if (*size == 0) break;
    if (rest.size() < *size + 2) return ParsedAnswer{};
    chunks.push_back(rest.substr(0, *size));
    rest.remove_prefix(*size + 2);
  }
  ParsedAnswer parsed{true, {status, {}, {}}};
  for (const std::string_view chunk : chunks) parsed.answer.body += chunk;
  return parsed;
}

}  // namespace

std::string SocketOfLocation(std::string_view location) {
  constexpr std::string_view kScheme = "http+unix://";
  if (!location.starts_with(kScheme)) return "";
  location.remove_prefix(kScheme.size());
  const std::string_view host = location.substr(0, location.find('/'));
  std::string path;
  for (size_t i = 0; i < host.size(); ++i) {
    if (host[i] != '%') {
      path += host[i];
      continue;
    }
    const auto byte = i + 2 < host.size() ? Number(host.substr(i + 1, 2), 16) : std::nullopt;
    if (!byte || *byte == 0) return "";
    path += static_cast<char>(*byte);
    i += 2;
  }
  return path.starts_with('/') ? path : "";
}

Result<ParsedAnswer> ParseHttpAnswer(std::string_view bytes, bool at_end) {
  std::string_view head;
  std::string_view rest = bytes;
  std::optional<int> status;
  for (int heads = 0; !status || *status == 100; ++heads) {
    if (heads > kMostInterimHeads) return NoHttp("only interim answers, 100 Continue");
    const size_t head_end = rest.find("\r\n\r\n");
    if (head_end == std::string_view::npos) {
      if (rest.size() > kMaxHeadBytes) return NoHttp("no end of the header");
      return ParsedAnswer{};
    }
    head = rest.substr(0, head_end);
    status = StatusOf(head);
    if (!status) return NoHttp("no status line");
    rest.remove_prefix(head_end + 4);
  }
  std::string location(Header(head, "location").value_or(""));
  const auto encoding = Header(head, "transfer-encoding");
  if (encoding && LowerCase(*encoding) == "chunked") return Chunked(*status, rest);
  const auto length = Header(head, "content-length");
  if (!length) {
    return at_end ? ParsedAnswer{true, {*status, std::string(rest), location}} : ParsedAnswer{};
  }
  const auto size = Number(*length, 10);
  if (!size || *size > kMaxAnswerBytes) return NoHttp("a bad length");
  if (rest.size() < *size) return ParsedAnswer{};
  return ParsedAnswer{true, {*status, std::string(rest.substr(0, *size)), std::move(location)}};
}

}  // namespace gpuadvise::client
