// The system around the daemon: its service manager, and the names of its users.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "daemon/base/clock.h"

namespace gpuadvise::daemon {

// What systemd is told (sd_notify(3)); without a service manager every call does nothing.
void NotifyReady();
void NotifyReloading();
void NotifyStopping();
void NotifyWatchdog();

// CPU time that the calling thread has taken so far.
std::chrono::nanoseconds ThreadCpuTime();

// How often NotifyWatchdog() has to be called (half the limit); nullopt: nobody watches.
std::optional<std::chrono::microseconds> WatchdogInterval();

// The login name behind a uid, remembered for a while: directory services may be slow.
//
// NameOf() may block on the first question for a uid; call it from a worker. Safe from any thread.
class UserNames {
 public:
  // `name_of`: where names are looked up, "" for none; the system's users if it is not set.
  explicit UserNames(const Clock& clock, std::function<std::string(int64_t)> name_of = {});

  // "" when the system knows no such user.
  std::string NameOf(int64_t uid);

  static constexpr int64_t kRememberedSeconds = 600;
  static constexpr size_t kMaxRemembered = 100'000;

 private:
  struct Entry {
    std::string name;
    UnixSeconds asked_at;
  };

  const Clock& clock_;
  const std::function<std::string(int64_t)> name_of_;
  std::mutex mutex_;
  std::unordered_map<int64_t, Entry> entries_;
};

}  // namespace gpuadvise::daemon
