// The certificate that the TLS listener shows, as a context of TLS 1.3. It is made anew when one of
// its files has changed, so renewing a certificate needs no restart. Nothing below TLS 1.3 is
// spoken, no certificate is asked of callers, and no session is resumed. Used on one thread.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

class ServerCertificate {
 public:
  using Context = std::shared_ptr<boost::asio::ssl::context>;

  // PEM files: the certificate with what it is issued by, and its key. Errors: kUnavailable: a file
  // that cannot be read or used, or a key that others may read; with the remedy.
  static Result<ServerCertificate> Load(std::string certificate, std::string key);

  // Reads the files again where one has changed: whether it has. Errors: as Load(); then all stays
  // as it was.
  Result<bool> Refresh();

  // What new connections use.
  const Context& context() const { return context_; }

 private:
  ServerCertificate(std::string certificate, std::string key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}

  std::string certificate_;
  std::string key_;
  std::string stamp_;  // of the files that were read
  Context context_;
};

}  // namespace gpuadvise::daemon
