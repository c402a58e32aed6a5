// GET /v1/map: what the GPUs of every node do, as texts with a letter for each node.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "common/api/map.h"
#include "common/base/host_list.h"
#include "common/gpu/gpu_labels.h"
#include "common/slurm/policy.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {
namespace {

char LetterOf(NodeUse use) {
  switch (use) {
    case NodeUse::kFree:
      return 'f';
    case NodeUse::kPartly:
      return 'p';
    case NodeUse::kBusy:
      return 'b';
    case NodeUse::kPromised:
      return 'k';
    case NodeUse::kDrained:
      return 'd';
    case NodeUse::kDown:
      return 'x';
  }
  return 'x';
}

char DigitOf(int64_t count) {
  return "0123456789abcdefghijklmnopqrstuvwxyz"[std::clamp<int64_t>(count, 0, 35)];
}

struct GroupOfMap {
  api::MapGroup row;
  std::vector<std::string> nodes;
};

}  // namespace

nlohmann::json AnswerMap(const AdviceContext& context, const Submitter& caller) {
  const Snapshot& snapshot = context.snapshot;
  if (HasFlag(snapshot.config.private_data, "nodes") && caller.uid != 0) {
    nlohmann::json document = ToJson(api::ClusterMap{});
    document["warnings"] = {"this site keeps its nodes private (PrivateData)"};
    return document;
  }
  const Visibility seen(snapshot, caller);
  const KeptNodes kept = NodesKeptNow(snapshot);
  GpuLabels labels(snapshot, context.gpus);
  std::vector<GroupOfMap> groups;
  std::map<std::tuple<std::string, std::string, int64_t>, size_t> known;
  for (const Node& node : snapshot.nodes) {
    const std::vector<std::string> partitions = seen.SeenOf(labels.PartitionsOf(node.name));
    if (!seen.SeesOneOf(labels.PartitionsOf(node.name)) || !IsHostName(node.name)) continue;
    const std::string partition = partitions.empty() ? "" : partitions.front();
    const bool is_kept = kept.contains(node.name);
    for (const GpuCount& gpus : node.gpus) {
      const GpuLabel& label = labels.LabelOf(node, gpus.type);
      const auto [found, added] =
          known.try_emplace({partition, label.id, gpus.count}, groups.size());
      if (added) {
        groups.push_back({{partition, label.id, label.name, gpus.count, "", "", "", ""}, {}});
      }
      GroupOfMap& group = groups[found->second];
      const GpuTally use = GpuTallyOf(node, gpus.type, is_kept);
      group.nodes.push_back(node.name);
      group.row.condition += LetterOf(UseOf(node, is_kept));
      group.row.used += DigitOf(use.used);
      group.row.free += DigitOf(use.free + use.promised);
    }
  }
  api::ClusterMap answer;
  for (GroupOfMap& group : groups) {
    group.row.nodes = CompressHostList(group.nodes);
    answer.groups.push_back(std::move(group.row));
  }
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
