// Selects the nodes of a partition that could run a job, and explains an empty result.
//
// Needs are checked in order, so the error names the first that leaves too few nodes: reservation,
// features, exclusions, GPUs, CPUs, memory, and last down nodes. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/scheduler/node_fit.h"

namespace gpuadvise {

// Sets `nodes`, `required`, `nodes_min` and `nodes_max` of `requirements`; the rest must be set.
// Raises the node count where tasks or GPUs need more, unless the request fixes it.
Result<void> ChooseNodes(const NodePool& pool, const Partition& partition,
                         const std::vector<int32_t>& members, const JobRequest& request,
                         JobRequirements& requirements);

tl::unexpected<Error> NoSuchGpu(const NodePool& pool, const Partition& partition,
                                const std::vector<int32_t>& members, std::string_view type);
// `names_are_private`: lists no names.
tl::unexpected<Error> NoSuchReservation(const NodePool& pool, std::string_view name,
                                        bool names_are_private);

// "gpu2080 (15 nodes × 4), gpul40s (2 × 6)": the GPUs on these nodes.
std::string DescribeGpus(const NodePool& pool, const std::vector<int32_t>& nodes);

}  // namespace gpuadvise
