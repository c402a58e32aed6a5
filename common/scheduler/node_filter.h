// Which nodes of a partition could ever run a job, and the sentence when too few can.
//
// The needs are tried one after the other, so the error names the first that leaves too few nodes:
// reservation, features, exclusions, GPUs, CPUs, memory, and last that nodes are down. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/scheduler/node_fit.h"

namespace gpuadvise {

// Sets `nodes`, `required`, `nodes_min` and `nodes_max` of `shape`, whose other needs are set.
// Fewer nodes than tasks or GPUs can fit on are made more, unless the request fixes them.
Result<void> ChooseNodes(const NodePool& pool, const Partition& partition,
                         const std::vector<int32_t>& members, const JobRequest& request,
                         JobRequirements& requirements);

tl::unexpected<Error> NoSuchGpu(const NodePool& pool, const Partition& partition,
                                const std::vector<int32_t>& members, std::string_view type);
// `names_are_private`: none is told.
tl::unexpected<Error> NoSuchReservation(const NodePool& pool, std::string_view name,
                                        bool names_are_private);

// "gpu2080 (15 nodes × 4), gpul40s (2 × 6)": the GPUs on these nodes.
std::string GpusInWords(const NodePool& pool, const std::vector<int32_t>& nodes);

}  // namespace gpuadvise
