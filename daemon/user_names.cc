#include "daemon/user_names.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace gpuadvise {
namespace {

std::string AskSystem(uid_t uid) {
  std::vector<char> buffer(4096);
  for (;;) {
    passwd entry{};
    passwd* found = nullptr;
    const int status = getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    if (status == 0) return found != nullptr ? found->pw_name : "";
    if (status != ERANGE || buffer.size() > (1u << 20)) return "";
    buffer.resize(buffer.size() * 2);
  }
}

}  // namespace

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
  std::string name = AskSystem(static_cast<uid_t>(uid));
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= kMaxRemembered) entries_.clear();
  entries_[uid] = {name, now};
  return name;
}

}  // namespace gpuadvise
