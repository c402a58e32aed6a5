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

// Whether a directory service may be asked about `name`.
bool IsLoginName(const std::string& name);

// The uid of "ann" or "1000"; nullopt: nobody has that name. Call at the start, before there are
// other threads.
std::optional<int64_t> UidOfUser(const std::string& name);

// The login name behind a uid and the uid behind a name, remembered for a while: directory services
// may be slow.
//
// NameOf() and UidOf() may block on the first question for a user; call them from a worker. Safe
// from any thread.
class UserNames {
 public:
  // `name_of`: where names are looked up, "" for none; the system's users if it is not set.
  // `uid_of` the same the other way; nullopt for none.
  explicit UserNames(const Clock& clock, std::function<std::string(int64_t)> name_of = {},
                     std::function<std::optional<int64_t>(const std::string&)> uid_of = {});

  // "" when the system knows no such user.
  std::string NameOf(int64_t uid);

  // nullopt when the system knows no such user. A number is a name here, not a uid.
  std::optional<int64_t> UidOf(const std::string& name);

  static constexpr int64_t kRememberedSeconds = 600;
  static constexpr size_t kMaxRemembered = 100'000;

 private:
  template <typename Value>
  struct Entry {
    Value value;
    UnixSeconds asked_at;
  };
  template <typename Key, typename Value>
  using Entries = std::unordered_map<Key, Entry<Value>>;

  template <typename Key, typename Value>
  Value Remembered(Entries<Key, Value>& entries, const Key& key,
                   const std::function<Value(const Key&)>& look_up);

  const Clock& clock_;
  const std::function<std::string(const int64_t&)> name_of_;
  const std::function<std::optional<int64_t>(const std::string&)> uid_of_;
  std::mutex mutex_;  // guards all below
  Entries<int64_t, std::string> names_;
  Entries<std::string, std::optional<int64_t>> uids_;
};

}  // namespace gpuadvise::daemon
