// TLS 1.3 as both ends of a relay's connection use it: which files, who is trusted, who was there.
//
// Nothing below TLS 1.3 is spoken, no session is resumed (a certificate is looked at on each
// connection, so one that was revoked opens none), and a context is made anew when one of its files
// has changed: renewing a certificate needs no restart.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

// PEM files; "": none.
struct TlsFiles {
  std::string ca = {};           // of the other end's certificates
  std::string certificate = {};  // one's own, and what it is issued by
  std::string key = {};          // for that; nobody else may read it
  std::string revoked = {};      // certificate revocation list of `ca`
  friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

class TlsContext {
 public:
  // kServer: a caller may come without a certificate; one that is not of `ca`, has expired, was
  // revoked or was not made for clients ends the handshake.
  enum class Side { kServer, kClient };
  using Shared = std::shared_ptr<boost::asio::ssl::context>;

  // Errors: kUnavailable: a file that cannot be read or used, with its remedy.
  static Result<std::unique_ptr<TlsContext>> Make(TlsFiles files, Side side);

  // What new connections use. Safe from any thread.
  Shared current() const;

  // Reads the files again where one has changed. Whether it has: connections that are open rest on
  // what was trusted before. Errors: as Make(); then all stays as it was. One thread at a time.
  Result<bool> Refresh();

 private:
  TlsContext(TlsFiles files, Side side) : files_(std::move(files)), side_(side) {}

  const TlsFiles files_;
  const Side side_;
  std::string stamps_;  // of the files that were read
  mutable std::mutex mutex_;
  Shared current_;  // guarded by mutex_
};

// The name in the certificate of the other end: its subject's common name; "": it showed none.
// REQUIRES: the handshake is done, with a context of above.
std::string PeerCertificateName(SSL* connection);

// What OpenSSL says of the last failure on this thread, without its numbers.
std::string TlsProblem(const boost::system::error_code& error);

}  // namespace gpuadvise::daemon
