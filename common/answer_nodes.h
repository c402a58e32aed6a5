// GET /v1/nodes: what each node has and who holds it until when, a page at a time, with what there
// is by partition and GPU type.
//
// Pure; safe from any thread. O(nodes + jobs) a request, whatever the page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/answers.h"
#include "common/node_use.h"
#include "common/queue_starts.h"

namespace gpuadvise {

/// Nodes of one answer at most.
inline constexpr size_t kMostNodes = 1'000;

/// Which nodes are asked for; empty and nullopt: all.
struct NodesFilter {
  std::string partition;
  std::string gpu;  // catalogue id
  std::optional<NodeUse> condition;
  std::string search;  // part of the name, a feature, the state or the reason, in any case
  size_t offset = 0;
  size_t limit = 200;
};

/// `starts`: StartsInQueue(view.queue).
nlohmann::json AnswerNodes(const NodesFilter& filter, const ClusterView& view,
                           const QueueStarts& starts, const Submitter& caller);

}  // namespace gpuadvise
