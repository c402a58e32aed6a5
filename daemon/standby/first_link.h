// The way to the first daemon: one HTTP/1.1 request, one answer, with a deadline and a bound.
//
// The only place that knows what the connection is made of. Today a Unix socket: the first's own,
// or one that is forwarded to it. Exchange() in the .cc takes any Asio stream, also one of TLS.
// Blocking; one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

struct LinkAnswer {
  int status = 0;
  std::string body;
};

class FirstLink {
 public:
  explicit FirstLink(std::string socket) : socket_(std::move(socket)) {}

  // Errors: kUnavailable: nothing listens, no whole answer in time, or more than is read.
  Result<LinkAnswer> Ask(const std::string& method, const std::string& target,
                         const std::string& body, std::chrono::milliseconds patience) const;

  const std::string& socket() const { return socket_; }

  static constexpr size_t kMostAnswerBytes = 16u << 20;

 private:
  std::string socket_;
};

}  // namespace gpuadvise::daemon
