// The groups of this process's user, as Slurm's AllowGroups names them.
#pragma once

#include <string>
#include <vector>

namespace gpuadvise {

/// The names of all groups that have one. Asks the system's user database; may block.
std::vector<std::string> OwnGroups();

}  // namespace gpuadvise
