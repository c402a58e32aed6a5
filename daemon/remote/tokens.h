// JSON Web Tokens as Slurm makes them (`scontrol token`), or as a site's login service does.
//
// A token is believed as slurmctld would believe it: signed with HS256 by the cluster's jwt_key, or
// with RS256 by a key of the site's key set; not expired. Which algorithm a key is for is fixed
// here; what the token says of itself chooses nothing but the key among those of its kind.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/unix_time.h"
#include "daemon/remote/token_keys.h"

namespace gpuadvise::daemon {

struct TokenRules {
  std::string key_file = {};   // "": no HS256
  std::string jwks_file = {};  // "": no RS256
  std::string user_claim = "sun";
  std::string issuer = {};    // "": any
  std::string audience = {};  // "": any
};

class Tokens {
 public:
  // Errors: kUnavailable: a file that cannot be read, or is none of its kind.
  static Result<std::unique_ptr<Tokens>> Make(TokenRules rules);

  // Reads the files again where one has changed; on an error all stays as it was. One thread at a
  // time.
  Result<void> Refresh();

  // The login name in `token`. Errors: kBadInput: why it is not believed, with the remedy. Safe
  // from any thread.
  Result<std::string> UserOf(const std::string& token, UnixSeconds now) const;

  // Clocks may differ by so much.
  static constexpr int64_t kLeewaySeconds = 60;
  static constexpr size_t kMostTokenBytes = 8192;

 private:
  struct Keys {
    std::string secret;
    std::vector<WebKey> web_keys;
  };

  explicit Tokens(TokenRules rules) : rules_(std::move(rules)) {}

  const TokenRules rules_;
  std::string stamps_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Keys> keys_;  // guarded by mutex_
};

}  // namespace gpuadvise::daemon
