#include "client/commands/system_names.h"

#include <unistd.h>

#include "common/process/name_service.h"

namespace gpuadvise::client {

std::string OwnUserName() { return UserName(::geteuid()); }

std::vector<std::string> OwnGroupNames() {
  std::vector<gid_t> ids = {::getegid()};
  const int count = ::getgroups(0, nullptr);
  if (count > 0) {
    std::vector<gid_t> more(static_cast<size_t>(count));
    const int got = ::getgroups(count, more.data());
    if (got > 0) ids.insert(ids.end(), more.begin(), more.begin() + got);
  }
  return GroupNames(ids);
}

}  // namespace gpuadvise::client
