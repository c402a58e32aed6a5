#include "common/answer_nodes.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/gpu_labels.h"
#include "common/node_rows.h"
#include "common/node_state.h"
#include "common/policy.h"
#include "common/pool_counts.h"
#include "common/seen.h"
#include "common/text_search.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

/// The nodes that a filter leaves, and how many there are of each condition.
struct Matching {
  std::vector<const Node*> nodes;
  std::array<int64_t, std::size(kNodeUses)> conditions{};
};

bool HasType(const Node& node, const std::string& gpu, GpuLabels& labels) {
  return std::any_of(node.gpus.begin(), node.gpus.end(),
                     [&](const GpuCount& gpus) { return labels.Of(node, gpus.type).id == gpu; });
}

bool IsFound(const Node& node, const std::string& search) {
  return ContainsInAnyCase(node.name, search) || ContainsInAnyCase(node.reason, search) ||
         ContainsInAnyCase(ToString(node.state), search) ||
         std::any_of(node.features.begin(), node.features.end(), [&](const std::string& feature) {
           return ContainsInAnyCase(feature, search);
         });
}

bool Matches(const Node& node, const NodesFilter& filter, const Seen& seen, GpuLabels& labels) {
  const std::vector<std::string>& partitions = labels.PartitionsOf(node.name);
  if (!seen.SeesOneOf(partitions)) return false;
  if (!filter.partition.empty()) {
    const std::vector<std::string> shown = seen.SeenOf(partitions);
    if (std::find(shown.begin(), shown.end(), filter.partition) == shown.end()) return false;
  }
  if (!filter.gpu.empty() && !HasType(node, filter.gpu, labels)) return false;
  return filter.search.empty() || IsFound(node, filter.search);
}

Matching Match(const Snapshot& snapshot, const NodesFilter& filter, const Seen& seen,
               const KeptNodes& kept, GpuLabels& labels) {
  Matching matching;
  for (const Node& node : snapshot.nodes) {
    if (!Matches(node, filter, seen, labels)) continue;
    const NodeUse use = UseOf(node, kept.contains(node.name));
    ++matching.conditions[static_cast<size_t>(use)];
    if (!filter.condition || *filter.condition == use) matching.nodes.push_back(&node);
  }
  return matching;
}

json GroupsJson(const std::vector<PoolCount>& pools) {
  json groups = json::array();
  for (const PoolCount& pool : pools) {
    groups.push_back({{"partition", pool.partition},
                      {"gpu", pool.gpu.id},
                      {"gpu_name", pool.gpu.name},
                      {"nodes", pool.nodes},
                      {"gpus", pool.gpus.total},
                      {"free", pool.gpus.free},
                      {"used", pool.gpus.used},
                      {"promised", pool.gpus.promised},
                      {"unavailable", pool.gpus.unavailable}});
  }
  return groups;
}

json ConditionsJson(const Matching& matching) {
  json conditions;
  for (const NodeUse use : kNodeUses) {
    conditions[std::string(NameOf(use))] = matching.conditions[static_cast<size_t>(use)];
  }
  return conditions;
}

std::vector<const Node*> PageOf(const std::vector<const Node*>& nodes, const NodesFilter& filter) {
  const size_t from = std::min(filter.offset, nodes.size());
  const size_t count = std::min({filter.limit, kMostNodes, nodes.size() - from});
  const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

json AnswerNodes(const NodesFilter& filter, const ClusterView& view, const QueueStarts& starts,
                 const Submitter& caller) {
  const Snapshot& snapshot = view.snapshot;
  GpuLabels labels(snapshot, view.gpus);
  const Seen seen(snapshot, caller);
  const KeptNodes kept = NodesKeptNow(snapshot);
  const bool nodes_are_private = HasFlag(snapshot.config.private_data, "nodes") && caller.uid != 0;
  NodesFilter asked = filter;
  if (nodes_are_private) asked.search.clear();  // what it finds would tell of single nodes
  Matching matching = Match(snapshot, asked, seen, kept, labels);
  json answer = {{"groups", GroupsJson(CountPools(snapshot, seen, kept, labels))},
                 {"conditions", ConditionsJson(matching)}};
  if (nodes_are_private) {
    matching.nodes.clear();
    answer["warnings"] =
        json::array({"this site keeps its nodes private (PrivateData): only counts are shown"});
  }
  const std::vector<const Node*> page = PageOf(matching.nodes, filter);
  const NodeRows rows(page, view, starts, caller);
  answer["nodes"] = json::array();
  for (const Node* node : page) answer["nodes"].push_back(rows.RowOf(*node, seen, kept, labels));
  answer["total"] = matching.nodes.size();
  answer["offset"] = filter.offset;
  return answer;
}

}  // namespace gpuadvise
