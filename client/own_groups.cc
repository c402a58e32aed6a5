#include "client/own_groups.h"

#include <grp.h>
#include <unistd.h>

namespace gpuadvise {

std::vector<std::string> OwnGroups() {
  std::vector<gid_t> ids = {::getegid()};
  const int count = ::getgroups(0, nullptr);
  if (count > 0) {
    std::vector<gid_t> more(static_cast<size_t>(count));
    const int got = ::getgroups(count, more.data());
    if (got > 0) ids.insert(ids.end(), more.begin(), more.begin() + got);
  }
  std::vector<std::string> names;
  for (const gid_t id : ids) {
    if (const group* found = ::getgrgid(id); found != nullptr) names.emplace_back(found->gr_name);
  }
  return names;
}

}  // namespace gpuadvise
