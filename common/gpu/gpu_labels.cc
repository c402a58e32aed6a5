#include "common/gpu/gpu_labels.h"

#include <algorithm>

#include "common/slurm/gres.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

const GpuLabel kNoGpu;
const GpuLabel kUntyped{"gpu", "untyped GPU"};
const GpuLabel kAnyGpu{"any", "any GPU"};  // of several types

GpuLabel LabelFor(const GpuModel* model, const std::string& type) {
  if (model != nullptr) return {model->id, model->display_name};
  if (type.empty()) return kUntyped;
  return {type, type};
}

}  // namespace

GpuLabels::GpuLabels(const Snapshot& snapshot, const GpuNaming& naming)
    : snapshot_(snapshot), naming_(naming) {
  nodes_.reserve(snapshot.nodes.size());
  for (const Node& node : snapshot.nodes) nodes_.emplace(node.name, &node);
}

const Node* GpuLabels::FindNode(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second;
}

const std::vector<std::string>& GpuLabels::PartitionsOf(const std::string& node) {
  static const std::vector<std::string> kNone;
  if (!partitions_) {
    partitions_.emplace();
    partitions_->reserve(snapshot_.nodes.size());
    for (const Partition& partition : snapshot_.partitions) {
      for (const std::string& name : partition.nodes) {
        (*partitions_)[name].push_back(partition.name);
      }
    }
  }
  const auto found = partitions_->find(node);
  return found == partitions_->end() ? kNone : found->second;
}

const GpuLabel& GpuLabels::LabelOf(const Node& node, const std::string& type) {
  if (!type.empty()) return LabelOfType(type);
  const auto known = untyped_.find(&node);
  if (known != untyped_.end()) return known->second;
  const GpuModel* model = naming_.ModelOf(node, PartitionsOf(node.name), type);
  return untyped_.emplace(&node, LabelFor(model, type)).first->second;
}

// A named type has the same label on every node.
const GpuLabel& GpuLabels::LabelOfType(const std::string& type) {
  const auto known = typed_.find(type);
  if (known != typed_.end()) return known->second;
  return typed_.emplace(type, LabelFor(naming_.ModelOf(Node(), {}, type), type)).first->second;
}

const std::vector<GpuLabel>& GpuLabels::TypesIn(const std::string& partition) {
  const auto known = types_in_.find(partition);
  if (known != types_in_.end()) return known->second;
  std::vector<GpuLabel>& types = types_in_[partition];
  const Partition* found = FindPartition(snapshot_, partition);
  if (found == nullptr) return types;
  for (const std::string& name : found->nodes) {
    const Node* node = FindNode(name);
    if (node == nullptr) continue;
    for (const GpuCount& gpus : node->gpus) {
      const GpuLabel& label = LabelOf(*node, gpus.type);
      if (std::find(types.begin(), types.end(), label) == types.end()) types.push_back(label);
    }
  }
  return types;
}

const GpuLabel& GpuLabels::LabelOfAnyIn(const std::vector<std::string>& partitions) {
  const GpuLabel* only = nullptr;
  for (const std::string& partition : partitions) {
    for (const GpuLabel& label : TypesIn(partition)) {
      if (only != nullptr && !(*only == label)) return kAnyGpu;
      only = &label;
    }
  }
  return only == nullptr ? kUntyped : *only;
}

const GpuLabel& GpuLabels::FindJobLabel(const Job& job) {
  for (const Allocation& allocation : job.allocations) {
    const bool has_gpus = !allocation.gpus.empty();
    if (!has_gpus && allocation.shards == 0) continue;
    if (has_gpus && !allocation.gpus.front().type.empty()) {
      return LabelOfType(allocation.gpus.front().type);
    }
    const Node* node = FindNode(allocation.node);
    if (node != nullptr && !node->gpus.empty()) return LabelOf(*node, node->gpus.front().type);
  }
  const JobRequest& request = job.request;
  const GpuCounts& wanted =
      request.gpus_per_node.empty() ? request.gpus_total : request.gpus_per_node;
  if (wanted.empty())
    return request.shards_per_node > 0 ? LabelOfAnyIn(request.partitions) : kNoGpu;
  const std::string& type = wanted.front().type;
  return type.empty() ? LabelOfAnyIn(request.partitions) : LabelOfType(type);
}

int64_t GpusOfJob(const Job& job) {
  int64_t held = 0;
  for (const Allocation& allocation : job.allocations) held += TotalGpus(allocation.gpus);
  if (held > 0) return held;
  const JobRequest& request = job.request;
  if (request.gpus_per_node.empty()) return TotalGpus(request.gpus_total);
  return TotalGpus(request.gpus_per_node) * std::max<int64_t>(request.nodes_min, 1);
}

}  // namespace gpuadvise
