// The system around the daemon: its service manager, and the names of its users.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

// Subordinate uids, as /etc/subuid gives them out: with a user namespace one person is 65,536 of
// them, and counts as one all the same. Immutable.
class SubordinateUids {
 public:
  // Lines "name:first:count"; a name that is a number is a uid. What cannot be read is left out.
  explicit SubordinateUids(std::string_view text);
  static SubordinateUids OfThisMachine();

  // `uid`, or the uid of whose subordinate it is.
  int64_t OwnerOf(int64_t uid) const;

 private:
  struct Range {
    int64_t first, count, owner;
  };
  std::vector<Range> ranges_;
};

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
