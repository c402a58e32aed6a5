// Which nodes a filter leaves: what the answers with a row for each node have in common.
//
// Pure; belongs to one answer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/gpu/gpu_labels.h"
#include "common/slurm/submitter.h"
#include "daemon/answers/idle_allocated.h"
#include "daemon/answers/node_use.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {

// The nodes that a filter leaves, and how many there are of each condition before that filter.
struct MatchingNodes {
  std::vector<const Node*> nodes;
  std::array<int64_t, std::size(kNodeUses)> conditions{};
  IdleAllocated idle_allocated;  // of all nodes

  // The page that `filter` asks for, of at most `most`.
  std::vector<const Node*> PageOf(const NodesFilter& filter, size_t most) const;
};

MatchingNodes MatchNodes(const Snapshot& snapshot, const NodesFilter& filter,
                         const Visibility& seen, const Submitter& caller, const KeptNodes& kept,
                         GpuLabels& labels);

}  // namespace gpuadvise::daemon
