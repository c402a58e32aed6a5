#include "common/net/http_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/base/text.h"
#include "common/base/version.h"
#include "common/base/words.h"
#include "common/net/connection.h"
#include "common/net/tls.h"

namespace gpuadvise {
namespace {

bool IsLetterOrDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsHost(std::string_view text) {
  return !text.empty() && text.size() < 256 && !text.starts_with('-') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsLetterOrDigit(c) || std::string_view("-._:").find(c) != std::string_view::npos;
         });
}

// Header values must not start another line; a word has no blanks either.
bool IsWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}
bool IsLine(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

std::string HostField(const HttpPlace& place) {
  if (place.kind == HttpPlace::Kind::kUnix) return "localhost";
  const bool is_v6 = place.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", place.host, is_v6 ? "]" : "", place.port);
}

Result<std::string> RequestBytes(const HttpCall& call) {
  std::string bytes = fmt::format(
      "{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: gpuadvise/{}\r\nAccept: application/json\r\n"
      "Connection: close\r\n",
      call.method, call.place.prefix, call.target, HostField(call.place), kVersion);
  bool is_clean = IsWord(call.target);
  for (const auto& [name, value] : call.fields) {
    is_clean = is_clean && IsWord(name) && IsLine(value);
    bytes += name + ": " + value + "\r\n";
  }
  if (!is_clean) {
    return BadInput("what it would be asked with has a line break or another odd character");
  }
  if (call.method == "POST") {
    bytes +=
        fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", call.body.size());
  }
  return bytes + "\r\n" + call.body;
}

template <typename Stream>
Result<HttpAnswer> Exchange(Stream& stream, const std::string& request, const HttpCall& call) {
  if (Result<void> sent = stream.Send(request); !sent) {
    return tl::unexpected<Error>(std::move(sent.error()));
  }
  return ReadHttpAnswer([&] { return stream.Receive(); }, call.most_body_bytes);
}

}  // namespace

Result<HttpPlace> ReadHttpPlace(std::string_view text) {
  const auto refuse = [&](const char* why) {
    return BadInput(
        fmt::format("{} is not an address{}; write unix:/PATH, http://HOST:PORT or "
                    "https://HOST:PORT",
                    Quoted(Shortened(std::string(text), kMaxQuotedBytes)), why));
  };
  HttpPlace place;
  std::string_view rest = text;
  if (rest.starts_with("unix:/")) rest.remove_prefix(5);
  if (rest.starts_with('/')) {
    place.path = rest;
    return place;
  }
  const bool is_secure = rest.starts_with("https://");
  if (!is_secure && !rest.starts_with("http://")) return refuse("");
  place.kind = is_secure ? HttpPlace::Kind::kHttps : HttpPlace::Kind::kHttp;
  rest.remove_prefix(is_secure ? 8 : 7);
  const size_t slash = std::min(rest.find('/'), rest.size());
  place.prefix = rest.substr(slash);
  while (place.prefix.ends_with('/')) place.prefix.pop_back();
  rest = rest.substr(0, slash);
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return refuse("");
  const size_t colon = rest.find(':', bracket);
  const std::string_view host = rest.substr(0, colon);
  place.host = bracket > 0 ? host.substr(1, host.size() - 2) : host;
  const std::string_view port =
      colon == std::string_view::npos ? (is_secure ? "443" : "80") : rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (error != std::errc() || end != port.data() + port.size() || place.port == 0) {
    return refuse(": its port is not a number");
  }
  if (!IsHost(place.host) || !IsWord(place.prefix)) return refuse("");
  return place;
}

Result<HttpAnswer> CallHttp(const HttpCall& call) {
  const Result<std::string> request = RequestBytes(call);
  if (!request) return tl::unexpected<Error>(request.error());
  const Deadline deadline(call.deadline);
  const HttpPlace& place = call.place;
  Result<Connection> connection = place.kind == HttpPlace::Kind::kUnix
                                      ? Connection::ToSocket(place.path, deadline)
                                      : Connection::ToHost(place.host, place.port, deadline);
  if (!connection) return tl::unexpected<Error>(std::move(connection.error()));
  if (place.kind != HttpPlace::Kind::kHttps) return Exchange(*connection, *request, call);
  Result<TlsStream> stream = TlsStream::Over(*connection, place.host, call.ca);
  if (!stream) return tl::unexpected<Error>(std::move(stream.error()));
  return Exchange(*stream, *request, call);
}

std::string QueryEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain =
        IsLetterOrDigit(c) || std::string_view("-._~").find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace gpuadvise
