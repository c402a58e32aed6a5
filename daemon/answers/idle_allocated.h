// Allocated GPUs that do nothing, by node.
//
// Node::gpus_idle counts GPUs that did nothing for 30 minutes, allocated or not; which they are is
// not known. A GPU that no job has held for as long may be one of them, so that at least
// gpus_idle less all of these are idle in a job that had the time to use them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "common/slurm/snapshot.h"

namespace gpuadvise::daemon {

// Node name to that number, where it is above 0. Pure; O(nodes + jobs).
using IdleAllocated = std::unordered_map<std::string_view, int64_t>;
IdleAllocated CountIdleAllocated(const Snapshot& snapshot);

}  // namespace gpuadvise::daemon
