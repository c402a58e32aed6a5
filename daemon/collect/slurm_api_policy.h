// Associations and QOS through libslurm, as slurmctld holds them: no slurmdbd is asked.
#pragma once

#include <string>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

// Fills associations and QOS; leaves them as they are when slurmctld does not tell. Gives the
// number of the administrator's level of `user`, "" where accounting has none of that name.
std::string LoadAccounting(Snapshot& snapshot, std::string_view user);

}  // namespace gpuadvise::collect
