// A statically linked program cannot load the NSS modules of the system it runs on (sss, ldap,
// winbind): they belong to that system's own libc. There `id` is asked, which is a program of that
// system; where it is missing or fails there are no names, and who needs them says so.
#include "client/commands/system_names.h"

#ifdef GPUADVISE_STATIC
#include "common/base/text.h"
#include "common/process/run_program.h"
#else
#include <grp.h>
#include <pwd.h>
#include <unistd.h>
#endif

namespace gpuadvise::client {

#ifdef GPUADVISE_STATIC
namespace {

std::string AskedId(const std::vector<std::string>& options) {
  return RunProgram("id", options, "", ChildErrors::kDiscarded).value_or("");
}

}  // namespace

std::string OwnUserName() {
  const std::string name = AskedId({"-un"});
  return std::string(Trim(name.substr(0, name.find('\n'))));
}

std::vector<std::string> OwnGroupNames() {
  std::vector<std::string> names;
  for (const std::string_view name : SplitAt(AskedId({"-Gnz"}), '\0')) {  // names may have blanks
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}
#else
std::string OwnUserName() {
  const passwd* user = ::getpwuid(::geteuid());
  return user == nullptr ? "" : user->pw_name;
}

std::vector<std::string> OwnGroupNames() {
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
#endif

}  // namespace gpuadvise::client
