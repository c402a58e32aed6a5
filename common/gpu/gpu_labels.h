// GPU labels of nodes and jobs for answers: catalogue id and name, or the GRES type.
//
// For one request over one snapshot; caches per type, so that 10,000 nodes need one catalogue
// lookup per type. Not for concurrent use; must not outlive its snapshot.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/gpu/gpu_naming.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct GpuLabel {
  std::string id;    // "l40s"; Slurm's type if unknown; "": no GPU
  std::string name;  // "L40S"
  friend bool operator==(const GpuLabel&, const GpuLabel&) = default;
};

class GpuLabels {
 public:
  GpuLabels(const Snapshot& snapshot, const GpuNaming& naming);

  // Label of GRES type `type` on `node`. References live as long as this object.
  const GpuLabel& LabelOf(const Node& node, const std::string& type);

  // First type that `job` holds or requests; "" for none. An untyped pending job has the type of
  // its partitions, or "any" if they have several.
  const GpuLabel& FindJobLabel(const Job& job);

  // Names of the partitions that a node is in, in the snapshot's order.
  const std::vector<std::string>& PartitionsOf(const std::string& node);

  // nullptr: the snapshot has no such node.
  const Node* FindNode(std::string_view name) const;

 private:
  const GpuLabel& LabelOfType(const std::string& type);
  const GpuLabel& LabelOfAnyIn(const std::vector<std::string>& partitions);
  const std::vector<GpuLabel>& TypesIn(const std::string& partition);

  const Snapshot& snapshot_;
  const GpuNaming& naming_;
  std::unordered_map<std::string_view, const Node*> nodes_;
  // By node; built on first use.
  std::optional<std::unordered_map<std::string_view, std::vector<std::string>>> partitions_;
  std::unordered_map<std::string, GpuLabel> typed_;
  std::unordered_map<const Node*, GpuLabel> untyped_;
  std::unordered_map<std::string, std::vector<GpuLabel>> types_in_;  // by partition
};

// Total GPUs that `job` holds or requests.
int64_t GpusOfJob(const Job& job);

}  // namespace gpuadvise
