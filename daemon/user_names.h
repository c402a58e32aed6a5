// The login name behind a uid, remembered for a while: directory services may be slow.
//
// NameOf() may block on the first question for a uid; call it from a worker. Safe from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "daemon/clock.h"

namespace gpuadvise {

class UserNames {
 public:
  explicit UserNames(const Clock& clock) : clock_(clock) {}

  /// "" when the system knows no such user.
  std::string NameOf(int64_t uid);

  static constexpr int64_t kRememberedSeconds = 600;
  static constexpr size_t kMaxRemembered = 100'000;

 private:
  struct Entry {
    std::string name;
    UnixSeconds asked_at;
  };

  const Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<int64_t, Entry> entries_;
};

}  // namespace gpuadvise
