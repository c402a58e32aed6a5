#include "common/net/tls.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/opensslv.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <initializer_list>

namespace gpuadvise {

// OpenSSL functions used.
#define GPUADVISE_OPENSSL(use)                                                                    \
  use(BIO_new) use(BIO_read) use(BIO_s_mem) use(BIO_write) use(ERR_clear_error)                   \
      use(ERR_peek_last_error) use(ERR_reason_error_string) use(SHA256) use(SSL_CTX_ctrl)         \
          use(SSL_CTX_free) use(SSL_CTX_load_verify_locations) use(SSL_CTX_new)                   \
              use(SSL_CTX_set_default_verify_paths) use(SSL_CTX_set_verify) use(SSL_connect)      \
                  use(SSL_ctrl) use(SSL_free) use(SSL_get0_param) use(SSL_get_error)              \
                      use(SSL_get_verify_result) use(SSL_new) use(SSL_read) use(SSL_set_bio)      \
                          use(SSL_write) use(TLS_client_method) use(X509_VERIFY_PARAM_set1_host)  \
                              use(X509_VERIFY_PARAM_set1_ip_asc) use(X509_VERIFY_PARAM_set_flags) \
                                  use(X509_verify_cert_error_string)

struct OpenSsl {
// NOLINTNEXTLINE(bugprone-macro-parentheses): `name` is declared here.
#define GPUADVISE_MEMBER(name) decltype(&::name) name = nullptr;
  GPUADVISE_OPENSSL(GPUADVISE_MEMBER)
#undef GPUADVISE_MEMBER
};

namespace {

#define GPUADVISE_TEXT(words) GPUADVISE_QUOTED(words)
#define GPUADVISE_QUOTED(words) #words
constexpr const char* kLibrary = "libssl.so." GPUADVISE_TEXT(OPENSSL_SHLIB_VERSION);

// nullptr: not installed. Stays loaded.
const OpenSsl* LoadOpenSsl() {
  static const std::unique_ptr<const OpenSsl> loaded = []() -> std::unique_ptr<const OpenSsl> {
    auto functions = std::make_unique<OpenSsl>();
#ifdef GPUADVISE_STATIC
#define GPUADVISE_FIND(name) functions->name = &::name;
    GPUADVISE_OPENSSL(GPUADVISE_FIND)
#else
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
#define GPUADVISE_FIND(name)                                                              \
  functions->name = reinterpret_cast<decltype(functions->name)>(::dlsym(library, #name)); \
  if (functions->name == nullptr) return nullptr;
    GPUADVISE_OPENSSL(GPUADVISE_FIND)
#endif
    return functions;
  }();
  return loaded.get();
}

// Trust stores. A static OpenSSL knows the paths of its build system; these are those of others.
void TrustThisMachine(const OpenSsl& ssl, SSL_CTX* context) {
  ssl.SSL_CTX_set_default_verify_paths(context);
#ifdef GPUADVISE_STATIC
  for (const char* file : {"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"}) {
    if (::access(file, R_OK) == 0) ssl.SSL_CTX_load_verify_locations(context, file, nullptr);
  }
#endif
}

}  // namespace

struct TlsStream::State {
  State(const OpenSsl& functions, Connection& over)
      : ssl(functions),
        connection(over),
        context(ssl.SSL_CTX_new(ssl.TLS_client_method()), ssl.SSL_CTX_free),
        session(nullptr, ssl.SSL_free) {}

  void Begin(const std::string& host);
  template <typename Step>
  Result<int> Run(const Step& step);
  Result<void> Flush();
  tl::unexpected<Error> WhyFailed() const;

  const OpenSsl& ssl;
  Connection& connection;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context;
  std::unique_ptr<SSL, decltype(&SSL_free)> session;
  BIO* incoming = nullptr;  // both owned by the session
  BIO* outgoing = nullptr;
};

// REQUIRES: the context has its trust store.
void TlsStream::State::Begin(const std::string& host) {
  session.reset(ssl.SSL_new(context.get()));
  incoming = ssl.BIO_new(ssl.BIO_s_mem());
  outgoing = ssl.BIO_new(ssl.BIO_s_mem());
  ssl.SSL_set_bio(session.get(), incoming, outgoing);
  X509_VERIFY_PARAM* wanted = ssl.SSL_get0_param(session.get());
  // Trusts certificates in the file directly, whoever signed them.
  ssl.X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN);
  if (ssl.X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1) return;
  ssl.X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
  std::string name = host;
  ssl.SSL_ctrl(session.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
}

// Repeats `step`, reading more from the peer each time, until it succeeds. 0: the peer closed the
// session.
template <typename Step>
Result<int> TlsStream::State::Run(const Step& step) {
  for (;;) {
    ssl.ERR_clear_error();
    const int done = step();
    const int error = done > 0 ? SSL_ERROR_NONE : ssl.SSL_get_error(session.get(), done);
    if (Result<void> sent = Flush(); !sent) return tl::unexpected<Error>(sent.error());
    if (error == SSL_ERROR_NONE) return done;
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    if (error != SSL_ERROR_WANT_READ) return WhyFailed();
    const Result<std::string> bytes = connection.Receive();
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    if (bytes->empty()) {
      return Fail(ErrorCode::kUnavailable, "it ended in the middle of its answer");
    }
    ssl.BIO_write(incoming, bytes->data(), static_cast<int>(bytes->size()));
  }
}

Result<void> TlsStream::State::Flush() {
  std::array<char, 16 << 10> bytes;
  int size = 0;
  while ((size = ssl.BIO_read(outgoing, bytes.data(), static_cast<int>(bytes.size()))) > 0) {
    if (Result<void> sent = connection.Send({bytes.data(), static_cast<size_t>(size)}); !sent) {
      return sent;
    }
  }
  return {};
}

tl::unexpected<Error> TlsStream::State::WhyFailed() const {
  if (const long verdict = ssl.SSL_get_verify_result(session.get()); verdict != X509_V_OK) {
    return Fail(ErrorCode::kUnavailable, fmt::format("its certificate is not trusted ({})",
                                                     ssl.X509_verify_cert_error_string(verdict)));
  }
  const char* reason = ssl.ERR_reason_error_string(ssl.ERR_peek_last_error());
  return Fail(ErrorCode::kUnavailable,
              fmt::format("TLS fails ({})", reason == nullptr ? "for no reason given" : reason));
}

Result<TlsStream> TlsStream::Over(Connection& connection, const std::string& host,
                                  const std::string& ca) {
  const OpenSsl* ssl = LoadOpenSsl();
  if (ssl == nullptr) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} cannot be loaded on this machine; install OpenSSL", kLibrary));
  }
  auto state = std::make_shared<State>(*ssl, connection);
  SSL_CTX* context = state->context.get();
  ssl->SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  ssl->SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (ca.empty()) {
    TrustThisMachine(*ssl, context);
  } else if (ssl->SSL_CTX_load_verify_locations(context, ca.c_str(), nullptr) != 1) {
    return BadInput(fmt::format("no certificates can be read from {}", ca));
  }
  state->Begin(host);
  const Result<int> greeted = state->Run([&] { return ssl->SSL_connect(state->session.get()); });
  if (!greeted) return tl::unexpected<Error>(greeted.error());
  return TlsStream(std::move(state));
}

Result<void> TlsStream::Send(std::string_view bytes) {
  if (bytes.empty()) return {};
  const Result<int> sent = state_->Run([&] {
    return state_->ssl.SSL_write(state_->session.get(), bytes.data(),
                                 static_cast<int>(bytes.size()));
  });
  if (!sent) return tl::unexpected<Error>(sent.error());
  return {};
}

Result<std::string> TlsStream::Receive() {
  std::string bytes(16 << 10, '\0');
  const Result<int> got = state_->Run([&] {
    return state_->ssl.SSL_read(state_->session.get(), bytes.data(),
                                static_cast<int>(bytes.size()));
  });
  if (!got) return tl::unexpected<Error>(got.error());
  bytes.resize(static_cast<size_t>(*got));
  return bytes;
}

std::string Sha256(std::string_view text) {
  const OpenSsl* ssl = LoadOpenSsl();
  if (ssl == nullptr) return "";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ssl->SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace gpuadvise
