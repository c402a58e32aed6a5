#include "daemon/base/system.h"

#include <pwd.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
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

std::string AskSystem(int64_t uid) {
  std::vector<char> buffer(4096);
  for (;;) {
    passwd entry{};
    passwd* found = nullptr;
    const int status =
        getpwuid_r(static_cast<uid_t>(uid), &entry, buffer.data(), buffer.size(), &found);
    if (status == 0) return found != nullptr ? found->pw_name : "";
    if (status != ERANGE || buffer.size() > (1u << 20)) return "";
    buffer.resize(buffer.size() * 2);
  }
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

// Of "ann" or "1000"; nullopt: nobody has that name.
std::optional<int64_t> UidOf(const std::string& name) {
  if (const auto uid = WholeNumberOf(name)) return uid;
  const passwd* found = getpwnam(name.c_str());  // at the start, before there are other threads
  if (found == nullptr) return {};
  return static_cast<int64_t>(found->pw_uid);
}

}  // namespace

SubordinateUids::SubordinateUids(std::string_view text) {
  for (const std::string_view line : SplitAt(text, '\n')) {
    const std::vector<std::string_view> parts = SplitAt(line, ':');
    if (parts.size() != 3) continue;
    const auto first = WholeNumberOf(parts[1]);
    const auto count = WholeNumberOf(parts[2]);
    if (!first || !count) continue;
    ranges_.push_back({*first, *count, UidOf(std::string(parts[0])).value_or(*first)});
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

UserNames::UserNames(const Clock& clock, std::function<std::string(int64_t)> name_of)
    : clock_(clock), name_of_(name_of ? std::move(name_of) : AskSystem) {}

std::string UserNames::NameOf(int64_t uid) {
  const UnixSeconds now = clock_.Now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(uid);
    const bool fresh = found != entries_.end() &&
                       now - found->second.asked_at < kRememberedSeconds &&
                       now >= found->second.asked_at;
    if (fresh) return found->second.name;
  }
  std::string name = name_of_(uid);
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= kMaxRemembered) entries_.clear();
  entries_[uid] = {name, now};
  return name;
}

}  // namespace gpuadvise::daemon
