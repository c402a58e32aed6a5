// JSON Web Tokens as Slurm makes them (`scontrol token`): signed with HS256 by the cluster's
// jwt_key, with an end. libjwt reads them, as it does in slurmctld.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "common/base/error.h"
#include "common/base/unix_time.h"

namespace gpuadvise::daemon {

class Tokens {
 public:
  // Errors: kUnavailable: a key that cannot be read, is too short, or that others may read.
  static Result<std::unique_ptr<Tokens>> Make(std::string key_file);

  // Reads the key again where its file has changed; on an error all stays as it was. One thread at
  // a time.
  Result<void> Refresh();

  // The login name in `token`. Errors: kBadInput: why it is not believed, with the remedy. Safe
  // from any thread.
  Result<std::string> UserOf(const std::string& token, UnixSeconds now) const;

  // Clocks may differ by so much.
  static constexpr int64_t kLeewaySeconds = 60;
  static constexpr size_t kMostTokenBytes = 8192;

 private:
  explicit Tokens(std::string key_file) : key_file_(std::move(key_file)) {}

  const std::string key_file_;
  std::string stamp_;
  mutable std::mutex mutex_;
  std::string key_;  // guarded by mutex_
};

}  // namespace gpuadvise::daemon
