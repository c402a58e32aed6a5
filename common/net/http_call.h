// One HTTP/1.1 call over a Unix socket, TCP or TLS, used by all programs of the project.
//
// Opens one connection per call. One deadline covers everything, including name lookup; header and
// body are bounded. Does not follow redirects or use proxies: data, tokens above all, go only to
// the named server. Always checks certificates. Blocking; from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise {

struct HttpPlace {
  enum class Kind { kUnix, kHttp, kHttps };
  Kind kind = Kind::kUnix;
  std::string path;  // of the socket
  std::string host;  // without the brackets of an IPv6 address
  uint16_t port = 0;
  std::string prefix;  // before every target, for a proxy: "/slurmrestd"
};

// From "/run/x.sock", "unix:/run/x.sock", "http://host:9090", "https://host/prefix",
// "http://[::1]:6820". Errors: kBadInput, a sentence.
Result<HttpPlace> ReadHttpPlace(std::string_view text);

struct HttpCall {
  HttpPlace place;
  std::string method = "GET";
  std::string target;                                            // "/v1/gpus"
  std::string body = {};                                         // JSON; sent with POST
  std::vector<std::pair<std::string, std::string>> fields = {};  // additional header fields
  std::string ca = {};  // for https: file with trusted certificates; "": this machine's
  std::chrono::milliseconds deadline{30'000};
  size_t most_body_bytes = 64u << 20;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::map<std::string, std::string> fields;  // header fields, names in lower case

  std::string Field(const std::string& name) const;  // "" if missing
};

// Any status is an answer. Errors: kUnavailable, completing a sentence ("nothing listens there",
// "its certificate is not trusted (…)"); kBadInput for what cannot be sent or trusted.
Result<HttpAnswer> CallHttp(const HttpCall& call);

// Reads one answer from `more` ("": end), and nothing beyond it. Errors: as CallHttp().
using MoreBytes = std::function<Result<std::string>()>;
Result<HttpAnswer> ReadHttpAnswer(const MoreBytes& more, size_t most_body_bytes);

// `text` as a query value: all but letters, digits and "-._~" as %XX (RFC 3986).
std::string QueryEncoded(std::string_view text);

}  // namespace gpuadvise
