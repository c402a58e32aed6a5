#include "daemon/tls/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace gpuadvise::daemon {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

constexpr size_t kLongestName = 256;

tl::unexpected<Error> CannotUse(const std::string& file, const std::string& why,
                                const std::string& remedy) {
  return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}; {}", file, why, remedy));
}

constexpr const char* kMake = "`gpuadvised relay-certs` makes such files";

// Changes whenever one of them does. Errors: a file that is not there, or a key for everybody.
Result<std::string> StampsOf(const TlsFiles& files) {
  std::string stamps;
  for (const std::string* file : {&files.ca, &files.certificate, &files.key, &files.revoked}) {
    if (file->empty()) continue;
    struct stat info {};
    if (::stat(file->c_str(), &info) != 0) return CannotUse(*file, std::strerror(errno), kMake);
    if (file == &files.key && (info.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
      return CannotUse(*file, "others may read or change this key", "run: chmod 600 " + *file);
    }
    stamps += fmt::format("{}:{}:{}.{}:{};", info.st_dev, info.st_ino, info.st_mtim.tv_sec,
                          info.st_mtim.tv_nsec, info.st_size);
  }
  return stamps;
}

Result<void> Trust(SSL_CTX* context, const TlsFiles& files) {
  if (files.ca.empty()) return {};
  if (SSL_CTX_load_verify_file(context, files.ca.c_str()) != 1) {
    return CannotUse(files.ca, "this is no certificate in PEM format", kMake);
  }
  if (files.revoked.empty()) return {};
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  X509_LOOKUP* lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (lookup == nullptr ||
      X509_load_crl_file(lookup, files.revoked.c_str(), X509_FILETYPE_PEM) < 1) {
    return CannotUse(files.revoked, "this is no list of revoked certificates in PEM format", kMake);
  }
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  return {};
}

Result<void> ShowOneself(SSL_CTX* context, const TlsFiles& files) {
  if (files.certificate.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return CannotUse(files.certificate, "this is no certificate in PEM format", kMake);
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return CannotUse(files.key, "this is no key in PEM format, or not that of " + files.certificate,
                     kMake);
  }
  return {};
}

Result<TlsContext::Shared> ContextFrom(const TlsFiles& files, TlsContext::Side side) {
  const bool server = side == TlsContext::Side::kServer;
  auto context =
      std::make_shared<ssl::context>(server ? ssl::context::tls_server : ssl::context::tls_client);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  if (!server && files.ca.empty()) SSL_CTX_set_default_verify_paths(native);
  Result<void> ready = Trust(native, files);
  if (ready) ready = ShowOneself(native, files);
  ERR_clear_error();
  if (!ready) return tl::unexpected<Error>(std::move(ready.error()));
  error_code ignored;
  const bool asks = !server || !files.ca.empty();
  context->set_verify_mode(asks ? ssl::verify_peer : ssl::verify_none, ignored);
  return context;
}

}  // namespace

Result<std::unique_ptr<TlsContext>> TlsContext::Make(TlsFiles files, Side side) {
  std::unique_ptr<TlsContext> made(new TlsContext(std::move(files), side));
  const Result<bool> read = made->Refresh();
  if (!read) return tl::unexpected<Error>(read.error());
  return made;
}

TlsContext::Shared TlsContext::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Result<bool> TlsContext::Refresh() {
  Result<std::string> stamps = StampsOf(files_);
  if (!stamps) return tl::unexpected<Error>(std::move(stamps.error()));
  if (current_ && *stamps == stamps_) return false;
  Result<Shared> made = ContextFrom(files_, side_);
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  stamps_ = std::move(*stamps);
  const std::lock_guard lock(mutex_);
  current_ = std::move(*made);
  return true;
}

std::string PeerCertificateName(SSL* connection) {
  const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(connection),
                                                          &X509_free);
  if (!shown || SSL_get_verify_result(connection) != X509_V_OK) return "";
  std::array<char, kLongestName> name{};
  const int length = X509_NAME_get_text_by_NID(X509_get_subject_name(shown.get()), NID_commonName,
                                               name.data(), static_cast<int>(name.size()));
  // One with a zero byte within would look like another's.
  if (length <= 0 || std::strlen(name.data()) != static_cast<size_t>(length)) return "";
  return name.data();
}

std::string TlsProblem(const error_code& error) {
  if (error.category() != boost::asio::error::get_ssl_category()) return error.message();
  const char* reason = ERR_reason_error_string(static_cast<unsigned long>(error.value()));
  return reason == nullptr ? error.message() : reason;
}

}  // namespace gpuadvise::daemon
