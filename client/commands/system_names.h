// Names of the user and the groups of this process, as the system's databases (NSS) have them.
#pragma once

#include <string>
#include <vector>

namespace gpuadvise::client {

// The login name of the effective user; "" where the system has none for it. May block.
std::string OwnUserName();

// The names of this process's groups, as Slurm's AllowGroups has them; groups without a name are
// left out. May block.
std::vector<std::string> OwnGroupNames();

}  // namespace gpuadvise::client
