// Making certificates of a private authority, and its list of those it has revoked: text in, text
// out (PEM). Keys are on the curve P-256.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/unix_time.h"

namespace gpuadvise::daemon {

struct CertifiedKey {
  std::string certificate;
  std::string key;
};

// What a certificate is for: the daemon shows its own to those who connect, a relay shows its own
// when it connects. One is refused in the other's place.
enum class CertificateUse { kDaemon, kRelay };

struct CertificateRequest {
  std::string name;  // its subject's common name
  CertificateUse use = CertificateUse::kRelay;
  std::vector<std::string> hosts = {};  // of kDaemon: names and addresses that it answers under
  std::chrono::hours valid_for{24 * 365};
};

// A certificate is valid from a day before it is made: the other end's clock may be behind.
inline constexpr std::chrono::hours kBackdated{24};

// An authority that signs others. Errors (all of this file): kInternal with what OpenSSL says.
Result<CertifiedKey> MakeAuthority(const std::string& name, std::chrono::hours valid_for,
                                   UnixSeconds now);

Result<CertifiedKey> MakeCertificate(const CertifiedKey& authority,
                                     const CertificateRequest& request, UnixSeconds now);

// `list` with `certificate` in it, too; "" is an empty list, and a certificate "" adds none. The
// list is valid as long as the authority is.
Result<std::string> Revoked(const CertifiedKey& authority, const std::string& list,
                            const std::string& certificate, UnixSeconds now);

struct CertificateFacts {
  UnixSeconds expires_at = 0;
  std::vector<std::string> hosts;
};

// Errors: kBadInput: `certificate` is none.
Result<CertificateFacts> FactsOf(const std::string& certificate);

// Whether it was signed by `authority`.
bool IsIssuedBy(const CertifiedKey& authority, const std::string& certificate);

}  // namespace gpuadvise::daemon
