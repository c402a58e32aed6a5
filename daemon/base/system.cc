#include "daemon/base/system.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/process/descriptor.h"
#include "common/process/name_service.h"

namespace gpuadvise::daemon {
namespace {

// One datagram to the service manager, as sd_notify(3) describes it.
void Notify(const std::string& state) {
  const char* name = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = name == nullptr ? "" : name;
  sockaddr_un address{};
  if (path.size() < 2 || path.size() >= sizeof address.sun_path) return;
  if (path.front() != '/' && path.front() != '@') return;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // an abstract one
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size()));
}

std::optional<int64_t> NumberIn(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : WholeNumber(text);
}

std::optional<int64_t> UidBehind(const std::string& name) {
  const std::map<std::string, int64_t> ids = UserIds({name});
  return ids.empty() ? std::nullopt : std::optional(ids.begin()->second);
}

}  // namespace

void NotifyReady() { Notify("READY=1"); }

void NotifyReloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t microseconds = int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  Notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", microseconds));
}

void NotifyStopping() { Notify("STOPPING=1"); }

void NotifyWatchdog() { Notify("WATCHDOG=1"); }

std::chrono::nanoseconds ThreadCpuTime() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::optional<std::chrono::microseconds> WatchdogInterval() {
  const std::optional<int64_t> limit = NumberIn("WATCHDOG_USEC");
  const std::optional<int64_t> watched = NumberIn("WATCHDOG_PID");
  if (!limit || *limit == 0 || (watched && *watched != ::getpid())) return std::nullopt;
  return std::chrono::microseconds(*limit / 2);
}

bool IsLoginName(const std::string& name) {
  constexpr size_t kLongestLoginName = 256;
  return name.size() <= kLongestLoginName && std::none_of(name.begin(), name.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte <= 0x20 || byte == 0x7f || c == ':' || c == ',' || c == '/';
         });
}

std::optional<int64_t> UidOfUser(const std::string& name) {
  if (const auto uid = WholeNumber(name)) return uid;
  return UidBehind(name);
}

SubordinateUids::SubordinateUids(std::string_view text) {
  std::vector<std::pair<std::string, Range>> read;
  std::vector<std::string> names;
  for (const std::string_view line : SplitAt(text, '\n')) {
    const std::vector<std::string_view> parts = SplitAt(line, ':');
    if (parts.size() != 3) continue;
    const auto first = WholeNumber(parts[1]);
    const auto count = WholeNumber(parts[2]);
    if (!first || !count) continue;
    const auto uid = WholeNumber(parts[0]);
    read.emplace_back(parts[0], Range{*first, *count, uid.value_or(*first)});
    if (!uid) names.emplace_back(parts[0]);
  }
  const std::map<std::string, int64_t> uids = UserIds(names);
  for (auto& [name, range] : read) {
    if (const auto found = uids.find(name); found != uids.end()) range.owner = found->second;
    ranges_.push_back(range);
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
      name_of_(name_of ? std::move(name_of) : UserName),
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
