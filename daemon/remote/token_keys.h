// The keys that tokens are checked with: Slurm's own jwt_key, and those of a JSON Web Key Set.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::daemon {

// One key of a set (RFC 7517), as PEM.
struct WebKey {
  std::string id;  // "kid"; "": it has none
  std::string public_key;
};

// The RSA keys for signatures of `text`; keys of other kinds are passed over, as RFC 7517 wants.
// Errors: kBadInput: no set, or none that can be used.
Result<std::vector<WebKey>> ParseWebKeys(const std::string& text);

}  // namespace gpuadvise::daemon
