// Credentials of munge, Slurm's own proof of who somebody is. libmunge is loaded when it is first
// needed; where it is missing nobody is known by munge.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/error.h"

namespace gpuadvise {

// A proof that this process's user made `payload`. Blocks until munged answers. `socket`, errors
// (kUnavailable): as below.
Result<std::string> MungeCredential(const std::string& payload, const std::string& socket);

// The uid that made `credential`, for `payload` and not for another request. munged takes each
// credential once. Blocks until munged answers; safe from any thread.
// `socket`: munged's; "": libmunge's own. Errors: kBadInput: it is not believed, and why;
// kUnavailable: no libmunge, or no munged.
Result<int64_t> UidOfCredential(const std::string& credential, const std::string& payload,
                                const std::string& socket);

}  // namespace gpuadvise
