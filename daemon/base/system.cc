#include "daemon/base/system.h"

#include <pwd.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

#include "common/base/text.h"

namespace gpuadvise::daemon {

void NotifyReady() { sd_notify(0, "READY=1"); }

void NotifyReloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t microseconds = int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", static_cast<long long>(microseconds));
}

void NotifyStopping() { sd_notify(0, "STOPPING=1"); }

void NotifyWatchdog() { sd_notify(0, "WATCHDOG=1"); }

std::chrono::nanoseconds ThreadCpuTime() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::optional<std::chrono::microseconds> WatchdogInterval() {
  uint64_t limit = 0;
  if (sd_watchdog_enabled(0, &limit) <= 0) return std::nullopt;
  return std::chrono::microseconds(limit / 2);
}

namespace {

// What the system says of a user; `ask` is getpwuid_r or getpwnam_r with its first argument.
// `take` is given the entry. False: there is no such user.
bool AskSystem(const std::function<int(passwd*, char*, size_t, passwd**)>& ask,
               const std::function<void(const passwd&)>& take) {
  std::vector<char> buffer(4096);
  for (;;) {
    passwd entry{};
    passwd* found = nullptr;
    const int status = ask(&entry, buffer.data(), buffer.size(), &found);
    if (status == 0 && found != nullptr) take(*found);
    if (status == 0) return found != nullptr;
    if (status != ERANGE || buffer.size() > (1u << 20)) return false;
    buffer.resize(buffer.size() * 2);
  }
}

std::string NameBehind(int64_t uid) {
  std::string name;
  AskSystem(
      [uid](passwd* entry, char* buffer, size_t size, passwd** found) {
        return getpwuid_r(static_cast<uid_t>(uid), entry, buffer, size, found);
      },
      [&](const passwd& user) { name = user.pw_name; });
  return name;
}

std::optional<int64_t> UidBehind(const std::string& name) {
  std::optional<int64_t> uid;
  AskSystem(
      [&name](passwd* entry, char* buffer, size_t size, passwd** found) {
        return getpwnam_r(name.c_str(), entry, buffer, size, found);
      },
      [&](const passwd& user) { uid = static_cast<int64_t>(user.pw_uid); });
  return uid;
}

}  // namespace

namespace {

std::optional<int64_t> WholeNumberOf(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc() || rest != end || number < 0) return {};
  return number;
}

}  // namespace

bool IsLoginName(const std::string& name) {
  constexpr size_t kLongestLoginName = 256;
  return name.size() <= kLongestLoginName && std::none_of(name.begin(), name.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte <= 0x20 || byte == 0x7f || c == ':' || c == ',' || c == '/';
         });
}

std::optional<int64_t> UidOfUser(const std::string& name) {
  if (const auto uid = WholeNumberOf(name)) return uid;
  return UidBehind(name);
}

SubordinateUids::SubordinateUids(std::string_view text) {
  for (const std::string_view line : SplitAt(text, '\n')) {
    const std::vector<std::string_view> parts = SplitAt(line, ':');
    if (parts.size() != 3) continue;
    const auto first = WholeNumberOf(parts[1]);
    const auto count = WholeNumberOf(parts[2]);
    if (!first || !count) continue;
    ranges_.push_back({*first, *count, UidOfUser(std::string(parts[0])).value_or(*first)});
  }
}

SubordinateUids SubordinateUids::OfThisMachine() {
  std::ifstream file("/etc/subuid");
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return SubordinateUids(text.str());
}

int64_t SubordinateUids::OwnerOf(int64_t uid) const {
  for (const Range& range : ranges_) {
    if (uid >= range.first && uid - range.first < range.count) return range.owner;
  }
  return uid;
}

UserNames::UserNames(const Clock& clock, std::function<std::string(int64_t)> name_of,
                     std::function<std::optional<int64_t>(const std::string&)> uid_of)
    : clock_(clock),
      name_of_(name_of ? std::move(name_of) : NameBehind),
      uid_of_(uid_of ? std::move(uid_of) : UidBehind) {}

template <typename Key, typename Value>
Value UserNames::Remembered(Entries<Key, Value>& entries, const Key& key,
                            const std::function<Value(const Key&)>& look_up) {
  const UnixSeconds now = clock_.Now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries.find(key);
    const bool fresh = found != entries.end() &&
                       now - found->second.asked_at < kRememberedSeconds &&
                       now >= found->second.asked_at;
    if (fresh) return found->second.value;
  }
  Value value = look_up(key);
  const std::lock_guard lock(mutex_);
  if (entries.size() >= kMaxRemembered) entries.clear();
  entries[key] = {value, now};
  return value;
}

std::string UserNames::NameOf(int64_t uid) { return Remembered(names_, uid, name_of_); }

std::optional<int64_t> UserNames::UidOf(const std::string& name) {
  return Remembered(uids_, name, uid_of_);
}

}  // namespace gpuadvise::daemon
