// A certificate of one's own making for localhost, as files in a test's folder.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <memory>
#include <string>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {

struct SelfSigned {
  explicit SelfSigned(const TempFolder& folder)
      : certificate(folder.Path("daemon.crt")), key(folder.Path("daemon.key")) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair(EVP_EC_gen("P-256"),
                                                                   &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), pair.get());
    X509_NAME* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    X509_sign(made.get(), pair.get(), EVP_sha256());
    const auto write = [](const std::string& path, const auto& put) {
      const std::unique_ptr<FILE, decltype(&fclose)> file(fopen(path.c_str(), "w"), &fclose);
      put(file.get());
      chmod(path.c_str(), 0600);
    };
    write(certificate, [&](FILE* file) { PEM_write_X509(file, made.get()); });
    write(key, [&](FILE* file) {
      PEM_write_PrivateKey(file, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
  }

  const std::string certificate;
  const std::string key;
};

}  // namespace gpuadvise::daemon
