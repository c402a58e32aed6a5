// The earliest time at which a job's nodes are free together, and which nodes it takes then.
//
// For every node that may serve, the time from which it could is found on its own timeline; the
// n-th smallest of these bounds the start of n nodes from below, and the search jumps from bound to
// bound, so that no time is tried twice and none is missed. Among nodes free at that time the low
// weights come first (as Slurm fills them), then those that fit tightest; equal nodes are really
// equal, so that their names decide nothing but the name. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/job_shape.h"
#include "common/node_timeline.h"

namespace gpuadvise {

struct Share {
  int32_t node = 0;
  Resources held;
};

struct Slot {
  int64_t start = kNever;  // kNever: the job never starts
  std::vector<Share> shares;
};

/// `free` is parallel to pool.nodes(); no start before max(from, shape.earliest).
Slot EarliestStart(const NodePool& pool, const std::vector<NodeTimeline>& free,
                   const JobShape& shape, int64_t from);

}  // namespace gpuadvise
