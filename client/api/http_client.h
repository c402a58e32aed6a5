// One HTTP/1.1 request over a Unix socket, blocking, with a deadline and a bound on the answer.
//
// Just what asking the daemon needs: a connection per request, Content-Length, chunked and
// read-to-end bodies. No library: the whole client has to start, ask and end in a few milliseconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise::client {

inline constexpr size_t kMaxAnswerBytes = 64 << 20;

struct HttpRequest {
  std::string method;  // "GET", "POST"
  std::string target;  // "/v1/gpus"
  std::string body;    // JSON; sent when the method is POST
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::string location = {};  // of a 3xx
};

// Where "http+unix://%2Frun%2Ffirst.sock/v1/gpus" leads; "": it leads to no Unix socket.
std::string SocketOfLocation(std::string_view location);

// Sends `request` to the socket at `path`. Errors: kUnavailable when nothing listens there, it may
// not be opened, or no whole answer came in time; the sentence says which.
Result<HttpAnswer> AskOverUnixSocket(const std::string& path, const HttpRequest& request,
                                     std::chrono::milliseconds timeout);

// `text` as a value in the query of a target: all but letters, digits and "-._~" as %XX (RFC 3986).
std::string QueryEncoded(std::string_view text);

// What an answer's bytes mean so far.
struct ParsedAnswer {
  bool complete = false;
  HttpAnswer answer;
};

// Reads the answer in `bytes`; `at_end`: the peer sent all it will. Errors (kUnavailable) for
// bytes that are no HTTP answer.
Result<ParsedAnswer> ParseHttpAnswer(std::string_view bytes, bool at_end);

}  // namespace gpuadvise::client
