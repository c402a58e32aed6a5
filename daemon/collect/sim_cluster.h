// The simulated cluster: 22 nodes with five types of GPU in one partition.
//
// As Slurm 22.05 would report it when idle. Nodes are sorted by name.
#pragma once

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

// The cluster "seed", idle and without jobs; `taken_at` is 0. Every node has GPUs of one type.
Snapshot SeedCluster();

}  // namespace gpuadvise::collect
