// Where a user's own daemon (`gpuadvised --user`) has its socket, settings and history, by the XDG
// Base Directory Specification (https://specifications.freedesktop.org/basedir-spec).
#pragma once

#include <sys/types.h>

#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

struct UserPlaces {
  std::string runtime_dir;  // for the socket; nobody else's
  std::string config_file;  // may not exist
  std::string state_dir;    // may not exist
  std::string socket() const { return runtime_dir + "/gpuadvised.sock"; }
};

// The folders of `user` by XDG_RUNTIME_DIR, XDG_CONFIG_HOME, XDG_STATE_HOME and HOME, which
// `environment` (such as getenv) gives. Makes runtime_dir (0700) if it is not there.
// Errors: a variable that is missing or no absolute path; a runtime folder that is another user's
// or that others may enter.
Result<UserPlaces> FindUserPlaces(const char* (*environment)(const char* name), uid_t user);

}  // namespace gpuadvise::daemon
