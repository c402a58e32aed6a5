#include "backtest/cluster_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/host_list.h"
#include "common/base/json_fields.h"

namespace gpuadvise::backtest {
namespace {

constexpr int64_t kMostNodes = 100'000;
// The recommended setting: no job waits beyond the backfill window.
constexpr const char* kWindowOfAMonth = "bf_window=43200";

std::vector<std::string> ReadNodeNames(FieldReader& group, const std::string& partition,
                                       size_t number) {
  const nlohmann::json* nodes = group.Any("nodes");
  if (nodes == nullptr) {
    group.Refuse("nodes", "nodes is missing: a count, or a host list such as \"n[01-15]\"");
    return {};
  }
  if (nodes->is_string()) {
    auto names = ExpandHostList(nodes->get<std::string>());
    if (names) return *names;
    group.Refuse("nodes", names.error().message);
    return {};
  }
  std::vector<std::string> names;
  const int64_t count = group.Int("nodes", 1, kMostNodes).value_or(0);
  for (int64_t i = 1; i <= count; ++i) {
    names.push_back(
        fmt::format("{}{}-{:05}", partition, number == 0 ? "" : std::to_string(number), i));
  }
  return names;
}

void ReadGroup(FieldReader group, size_t number, Partition& partition,
               std::map<std::string, Node>& nodes) {
  const std::vector<std::string> names = ReadNodeNames(group, partition.name, number);
  Node node;
  node.state.base = NodeBase::kIdle;
  node.cpus = group.Int("cpus_per_node", 1, 1'000'000).value_or(1);
  node.memory_mib = 1;  // not in logs, and not used
  const int64_t gpus = group.Int("gpus_per_node", 0, 1000).value_or(0);
  const std::string type = group.Text("gpu").value_or("");
  if (gpus > 0) node.gpus = {{type, gpus}};
  group.RefuseUnknown();
  for (const std::string& name : names) {
    node.name = name;
    nodes.emplace(name, node);
    partition.nodes.push_back(name);
  }
}

void ReadPartition(FieldReader& partitions, const std::string& name, const nlohmann::json& value,
                   Snapshot& cluster, std::map<std::string, Node>& nodes) {
  Partition partition;
  partition.name = name;
  partition.is_default = cluster.partitions.empty();
  if (value.is_array()) {
    size_t number = 0;
    for (const nlohmann::json& group : value) {
      const std::string pointer = PointerTo(partitions.PointerOf(name), std::to_string(number));
      ReadGroup(FieldReader(group, pointer, partitions.errors()), number++, partition, nodes);
    }
  } else {
    ReadGroup(FieldReader(value, partitions.PointerOf(name), partitions.errors()), 0, partition,
              nodes);
  }
  std::sort(partition.nodes.begin(), partition.nodes.end());
  cluster.partitions.push_back(std::move(partition));
}

}  // namespace

Result<Snapshot> ClusterOf(const YamlDocument& document) {
  DocumentErrors errors;
  FieldReader root(document.root, "", &errors);
  Snapshot cluster;
  cluster.cluster = root.Text("name").value_or("log");
  cluster.source = "replay";
  cluster.config.scheduler_type = "sched/backfill";
  cluster.config.priority_type = "priority/basic";
  cluster.config.select_type_parameters = "CR_CPU";
  cluster.config.scheduler_parameters = root.Text("scheduler_parameters").value_or(kWindowOfAMonth);
  std::map<std::string, Node> nodes;
  if (auto partitions = root.Object("partitions")) {
    for (const auto& [name, value] : document.root.at("partitions").items()) {
      ReadPartition(*partitions, name, value, cluster, nodes);
    }
  } else {
    root.Refuse("partitions", "partitions is missing: a map of partition names to their nodes");
  }
  root.RefuseUnknown();
  if (auto read = errors.AsResult(); !read) return tl::unexpected(read.error());
  if (cluster.partitions.empty()) return BadInput("partitions is empty", "/partitions");
  for (auto& [name, node] : nodes) cluster.nodes.push_back(std::move(node));
  std::sort(cluster.partitions.begin(), cluster.partitions.end(),
            [](const Partition& a, const Partition& b) { return a.name < b.name; });
  return cluster;
}

}  // namespace gpuadvise::backtest
