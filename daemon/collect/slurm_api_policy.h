// Associations and QOS through libslurm, from slurmctld without asking slurmdbd.
#pragma once

#include <string>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

// Fills associations and QOS; keeps them if slurmctld does not give them. Returns the numeric
// administrator level of `user`; "" if accounting has no such user.
std::string LoadAccounting(Snapshot& snapshot, std::string_view user);

}  // namespace gpuadvise::collect
