// MUNGE credentials, Slurm's proof of identity. libmunge is loaded on first use; without it nobody
// is identified.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

// What a credential for one HTTPS request is made for: "gpuadvise " and the SHA-256, in hexadecimal
// digits, of METHOD, TARGET, NONCE and BODY with a line end between them. `target`: as on the
// request line; `nonce`: of the header Gpuadvise-Nonce, which makes each request another one.
std::string MungePayload(std::string_view method, std::string_view target, std::string_view nonce,
                         std::string_view body);

// Proof that this process's user created `payload`. Blocks until munged answers. `socket`, errors
// (kUnavailable): as below.
Result<std::string> MungeCredential(const std::string& payload, const std::string& socket);

struct MungeProof {
  int64_t uid = -1;
  std::string payload;
};

// Decodes `credential`: its user and payload. munged accepts each credential once. Blocks until
// munged answers; safe from any thread. `socket`: munged's; "": libmunge's default. Errors:
// kBadInput with the reason if invalid; kUnavailable without libmunge or munged.
Result<MungeProof> ReadCredential(const std::string& credential, const std::string& socket);

}  // namespace gpuadvise
