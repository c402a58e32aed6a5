// TLS 1.2 or newer over a connection, as a client, and SHA-256.
//
// OpenSSL is loaded on first use: linking it would cost every start of the thin client more than a
// whole request over a Unix socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/net/connection.h"

namespace gpuadvise {

class TlsStream {
 public:
  // Performs the handshake on `connection`, which must outlive the stream. The certificate must be
  // for `host` (name or address) and signed by, or be, one in the file `ca`; "": the machine's
  // trusted certificates. Errors: kUnavailable, completing a sentence; kBadInput for the file.
  static Result<TlsStream> Over(Connection& connection, const std::string& host,
                                const std::string& ca);

  // As Connection's.
  Result<void> Send(std::string_view bytes);
  Result<std::string> Receive();

 private:
  struct State;
  explicit TlsStream(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// SHA-256 of `text` in hexadecimal; "" if OpenSSL cannot be loaded.
std::string Sha256(std::string_view text);

}  // namespace gpuadvise
