// The way to another daemon: one HTTP/1.1 request, one answer, with a deadline and a bound.
//
// The only place that knows what the connection is made of: a Unix socket (the other's own, or one
// that is forwarded to it), or TLS.
// Blocking; one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "daemon/tls/tls_context.h"

namespace gpuadvise::daemon {

struct LinkAnswer {
  int status = 0;
  std::string body;
};

class DaemonLink {
 public:
  // `place`: the path of a socket, or https://HOST:PORT; then `files` are shown (where there are
  // any) and trusted.
  explicit DaemonLink(std::string place, TlsFiles files = {})
      : place_(std::move(place)), files_(std::move(files)) {}

  // Errors: kUnavailable: nothing listens, no whole answer in time, or more than is read.
  Result<LinkAnswer> Ask(const std::string& method, const std::string& target,
                         const std::string& body, std::chrono::milliseconds patience) const;

  const std::string& place() const { return place_; }

  static constexpr size_t kMostAnswerBytes = 16u << 20;

 private:
  std::string place_;
  TlsFiles files_;
};

}  // namespace gpuadvise::daemon
