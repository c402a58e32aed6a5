#include "daemon/settings/user_places.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace gpuadvise::daemon {
namespace {

constexpr const char* kOwnSocket =
    "log in with a session of your own (ssh, `loginctl enable-linger`), or give --socket PATH and "
    "set GPUADVISE_SOCKET to the same path";

using Environment = const char* (*)(const char* name);

std::string Variable(Environment environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

// The folder of `variable`, else `rest` under HOME.
Result<std::string> Base(Environment environment, const char* variable, const char* rest) {
  const std::string value = Variable(environment, variable);
  if (value.starts_with('/')) return value;  // a relative one is to be ignored, says the standard
  const std::string home = Variable(environment, "HOME");
  if (!home.starts_with('/')) {
    return BadInput(fmt::format("--user finds no home folder: set HOME or {}", variable));
  }
  return home + rest;
}

Result<void> CheckPrivate(const std::string& folder, uid_t user) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) {
    return BadInput(fmt::format("{}: {}; {}", folder, std::strerror(errno), kOwnSocket));
  }
  if (!S_ISDIR(info.st_mode))
    return BadInput(fmt::format("{} is no folder; {}", folder, kOwnSocket));
  if (info.st_uid != user) {
    return BadInput(
        fmt::format("{} belongs to user {}, not to you; {}", folder, info.st_uid, kOwnSocket));
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return BadInput(fmt::format("others may enter {}; run: chmod 700 {}", folder, folder));
  }
  return {};
}

Result<std::string> RuntimeFolder(Environment environment, uid_t user) {
  const std::string base = Variable(environment, "XDG_RUNTIME_DIR");
  if (!base.starts_with('/')) {
    return BadInput(fmt::format("XDG_RUNTIME_DIR is {}; {}",
                                base.empty() ? "not set" : "no absolute path", kOwnSocket));
  }
  if (const Result<void> own = CheckPrivate(base, user); !own) {
    return tl::unexpected<Error>(own.error());
  }
  const std::string folder = base + "/gpuadvise";
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return BadInput(
        fmt::format("{} cannot be made: {}; {}", folder, std::strerror(errno), kOwnSocket));
  }
  if (const Result<void> own = CheckPrivate(folder, user); !own) {
    return tl::unexpected<Error>(own.error());
  }
  return folder;
}

}  // namespace

Result<UserPlaces> FindUserPlaces(const char* (*environment)(const char* name), uid_t user) {
  const Result<std::string> config = Base(environment, "XDG_CONFIG_HOME", "/.config");
  if (!config) return tl::unexpected<Error>(config.error());
  const Result<std::string> state = Base(environment, "XDG_STATE_HOME", "/.local/state");
  if (!state) return tl::unexpected<Error>(state.error());
  const Result<std::string> runtime = RuntimeFolder(environment, user);
  if (!runtime) return tl::unexpected<Error>(runtime.error());
  return UserPlaces{*runtime, *config + "/gpuadvise/gpuadvised.yaml", *state + "/gpuadvise"};
}

}  // namespace gpuadvise::daemon
