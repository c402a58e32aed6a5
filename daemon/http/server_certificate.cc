#include "daemon/http/server_certificate.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>

#include "daemon/base/secret_file.h"

namespace gpuadvise::daemon {
namespace {

namespace ssl = boost::asio::ssl;

tl::unexpected<Error> CannotUse(const std::string& file, const std::string& why) {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} {}; docs/other-hosts.md shows how to make one", file, why));
}

Result<ServerCertificate::Context> ContextFrom(const std::string& certificate,
                                               const std::string& key) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  const bool has_certificate = SSL_CTX_use_certificate_chain_file(native, certificate.c_str()) == 1;
  const bool has_key =
      has_certificate && SSL_CTX_use_PrivateKey_file(native, key.c_str(), SSL_FILETYPE_PEM) == 1;
  ERR_clear_error();
  if (!has_certificate) return CannotUse(certificate, "is not a certificate in PEM format");
  if (!has_key) return CannotUse(key, "is not a key in PEM format, or not that of " + certificate);
  return context;
}

}  // namespace

Result<ServerCertificate> ServerCertificate::Load(std::string certificate, std::string key) {
  ServerCertificate loaded(std::move(certificate), std::move(key));
  const Result<bool> read = loaded.Refresh();
  if (!read) return tl::unexpected<Error>(read.error());
  return loaded;
}

Result<bool> ServerCertificate::Refresh() {
  const Result<std::string> shown = StampOf(certificate_);
  if (!shown) return tl::unexpected<Error>(shown.error());
  const Result<std::string> secret = StampOfSecret(key_);
  if (!secret) return tl::unexpected<Error>(secret.error());
  if (context_ && stamp_ == *shown + *secret) return false;
  Result<Context> made = ContextFrom(certificate_, key_);
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  context_ = std::move(*made);
  stamp_ = *shown + *secret;
  return true;
}

}  // namespace gpuadvise::daemon
