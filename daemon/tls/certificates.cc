#include "daemon/tls/certificates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <ctime>
#include <memory>
#include <utility>

namespace gpuadvise::daemon {
namespace {

template <auto free>
struct Freer {
  template <typename T>
  void operator()(T* held) const {
    free(held);
  }
};
template <typename T, auto free>
using Held = std::unique_ptr<T, Freer<free>>;
using Key = Held<EVP_PKEY, EVP_PKEY_free>;
using Certificate = Held<X509, X509_free>;
using RevocationList = Held<X509_CRL, X509_CRL_free>;
using Memory = Held<BIO, BIO_free_all>;

constexpr int kSerialBits = 127;  // positive, and no two alike
constexpr long kVersion3 = 2;
constexpr long kListVersion2 = 1;

tl::unexpected<Error> OpenSslFailed(const char* what) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return Fail(ErrorCode::kInternal,
              fmt::format("{} failed: {}", what, reason == nullptr ? "no cause given" : reason));
}

std::string TextOf(BIO* memory) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory, &bytes);
  return {bytes, static_cast<size_t>(size)};
}

Memory MemoryOf(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate ReadCertificate(const std::string& text) {
  Certificate read(PEM_read_bio_X509(MemoryOf(text).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return read;
}

Key ReadKey(const std::string& text) {
  Key read(PEM_read_bio_PrivateKey(MemoryOf(text).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return read;
}

bool AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Held<X509_EXTENSION, X509_EXTENSION_free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  const Held<BIGNUM, BN_free> number(BN_new());
  return number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetTimes(X509* certificate, UnixSeconds now, std::chrono::hours valid_for) {
  const auto from = now - std::chrono::seconds(kBackdated).count();
  const auto until = now + std::chrono::seconds(valid_for).count();
  return ASN1_TIME_set(X509_getm_notBefore(certificate), from) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), until) != nullptr;
}

bool SetName(X509* certificate, const std::string& name) {
  return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.data()),
                                    static_cast<int>(name.size()), -1, 0) == 1;
}

// All but issuer, extensions and signature.
Certificate Blank(const std::string& name, EVP_PKEY* key, std::chrono::hours valid_for,
                  UnixSeconds now) {
  Certificate made(X509_new());
  if (!made || X509_set_version(made.get(), kVersion3) != 1 || !SetSerial(made.get()) ||
      !SetTimes(made.get(), now, valid_for) || !SetName(made.get(), name) ||
      X509_set_pubkey(made.get(), key) != 1) {
    made.reset();
  }
  return made;
}

Result<CertifiedKey> InPem(X509* certificate, EVP_PKEY* key) {
  const Memory shown(BIO_new(BIO_s_mem()));
  const Memory secret(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(shown.get(), certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(secret.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return OpenSslFailed("writing a certificate");
  }
  return CertifiedKey{TextOf(shown.get()), TextOf(secret.get())};
}

std::string AlternativeNames(const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  for (const std::string& host : hosts) {
    boost::system::error_code no_address;
    boost::asio::ip::make_address(host, no_address);
    names.push_back((no_address ? "DNS:" : "IP:") + host);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

bool AddUses(X509* certificate, X509* issuer, const CertificateRequest& request) {
  const bool daemon = request.use == CertificateUse::kDaemon;
  return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
         AddExtension(certificate, issuer, NID_ext_key_usage,
                      daemon ? "serverAuth" : "clientAuth") &&
         AddExtension(certificate, issuer, NID_subject_key_identifier, "hash") &&
         AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid") &&
         (!daemon ||
          AddExtension(certificate, issuer, NID_subject_alt_name, AlternativeNames(request.hosts)));
}

RevocationList ReadList(const std::string& text) {
  if (text.empty()) return RevocationList(X509_CRL_new());
  RevocationList read(PEM_read_bio_X509_CRL(MemoryOf(text).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return read;
}

bool AddRevoked(X509_CRL* list, X509* certificate, UnixSeconds now) {
  X509_REVOKED* listed = nullptr;
  if (X509_CRL_get0_by_cert(list, &listed, certificate) == 1) return true;
  Held<X509_REVOKED, X509_REVOKED_free> entry(X509_REVOKED_new());
  const Held<ASN1_TIME, ASN1_TIME_free> at(ASN1_TIME_set(nullptr, now));
  if (!entry || !at ||
      X509_REVOKED_set_serialNumber(entry.get(), X509_get_serialNumber(certificate)) != 1 ||
      X509_REVOKED_set_revocationDate(entry.get(), at.get()) != 1 ||
      X509_CRL_add0_revoked(list, entry.get()) != 1) {
    return false;
  }
  static_cast<void>(entry.release());
  return true;
}

bool SignList(X509_CRL* list, X509* issuer, EVP_PKEY* key, UnixSeconds now) {
  const Held<ASN1_TIME, ASN1_TIME_free> from(
      ASN1_TIME_set(nullptr, now - std::chrono::seconds(kBackdated).count()));
  return X509_CRL_set_version(list, kListVersion2) == 1 &&
         X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer)) == 1 &&
         X509_CRL_set1_lastUpdate(list, from.get()) == 1 &&
         X509_CRL_set1_nextUpdate(list, X509_get0_notAfter(issuer)) == 1 &&
         X509_CRL_sort(list) == 1 && X509_CRL_sign(list, key, EVP_sha256()) > 0;
}

std::vector<std::string> HostsOf(X509* certificate) {
  std::vector<std::string> hosts;
  const Held<GENERAL_NAMES, GENERAL_NAMES_free> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    const ASN1_STRING* text = name->type == GEN_DNS ? name->d.dNSName : nullptr;
    if (name->type == GEN_IPADD) {
      const auto* bytes = ASN1_STRING_get0_data(name->d.iPAddress);
      const int size = ASN1_STRING_length(name->d.iPAddress);
      using boost::asio::ip::address_v4;
      using boost::asio::ip::address_v6;
      if (size == 4) {
        hosts.push_back(address_v4({bytes[0], bytes[1], bytes[2], bytes[3]}).to_string());
      } else if (size == 16) {
        address_v6::bytes_type all;
        std::copy(bytes, bytes + size, all.begin());
        hosts.push_back(address_v6(all).to_string());
      }
    } else if (text != nullptr) {
      hosts.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                         static_cast<size_t>(ASN1_STRING_length(text)));
    }
  }
  return hosts;
}

}  // namespace

Result<CertifiedKey> MakeAuthority(const std::string& name, std::chrono::hours valid_for,
                                   UnixSeconds now) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate made = key ? Blank(name, key.get(), valid_for, now) : nullptr;
  if (!made || X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) != 1 ||
      !AddExtension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !AddExtension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !AddExtension(made.get(), made.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(made.get(), key.get(), EVP_sha256()) <= 0) {
    return OpenSslFailed("making the authority's certificate");
  }
  return InPem(made.get(), key.get());
}

Result<CertifiedKey> MakeCertificate(const CertifiedKey& authority,
                                     const CertificateRequest& request, UnixSeconds now) {
  const Certificate issuer = ReadCertificate(authority.certificate);
  const Key signing = ReadKey(authority.key);
  if (!issuer || !signing) return OpenSslFailed("reading the authority's certificate and key");
  const Key key(EVP_EC_gen("P-256"));
  const Certificate made = key ? Blank(request.name, key.get(), request.valid_for, now) : nullptr;
  if (!made || X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get())) != 1 ||
      !AddUses(made.get(), issuer.get(), request) ||
      X509_sign(made.get(), signing.get(), EVP_sha256()) <= 0) {
    return OpenSslFailed(("making the certificate of " + request.name).c_str());
  }
  return InPem(made.get(), key.get());
}

Result<std::string> Revoked(const CertifiedKey& authority, const std::string& list,
                            const std::string& certificate, UnixSeconds now) {
  const Certificate issuer = ReadCertificate(authority.certificate);
  const Key signing = ReadKey(authority.key);
  const RevocationList made = ReadList(list);
  if (!issuer || !signing || !made) return OpenSslFailed("reading the list of what is revoked");
  if (!certificate.empty()) {
    const Certificate ends = ReadCertificate(certificate);
    if (!ends || !AddRevoked(made.get(), ends.get(), now)) {
      return OpenSslFailed("revoking the certificate");
    }
  }
  const Memory text(BIO_new(BIO_s_mem()));
  if (!SignList(made.get(), issuer.get(), signing.get(), now) ||
      PEM_write_bio_X509_CRL(text.get(), made.get()) != 1) {
    return OpenSslFailed("signing the list of what is revoked");
  }
  return TextOf(text.get());
}

Result<CertificateFacts> FactsOf(const std::string& certificate) {
  const Certificate read = ReadCertificate(certificate);
  if (!read) return BadInput("this is no certificate in PEM format", "");
  CertificateFacts facts;
  std::tm until{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(read.get()), &until) == 1) {
    facts.expires_at = static_cast<UnixSeconds>(timegm(&until));
  }
  facts.hosts = HostsOf(read.get());
  return facts;
}

bool IsIssuedBy(const CertifiedKey& authority, const std::string& certificate) {
  const Certificate issuer = ReadCertificate(authority.certificate);
  const Certificate read = ReadCertificate(certificate);
  return issuer && read && X509_verify(read.get(), X509_get0_pubkey(issuer.get())) == 1;
}

}  // namespace gpuadvise::daemon
