#include "common/advise/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/words.h"
#include "common/plan/prices.h"
#include "common/plan/scale.h"
#include "common/slurm/access.h"
#include "common/slurm/gres.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

std::vector<std::string> NamesOf(const std::vector<GpuPool>& pools) {
  std::vector<std::string> names;
  for (const GpuPool& pool : pools) {
    if (std::find(names.begin(), names.end(), pool.Name()) == names.end())
      names.push_back(pool.Name());
  }
  return names;
}

bool IsNamed(const GpuPool& pool, const std::string& name, const GpuCatalogue& catalogue) {
  if (!pool.gres_type.empty() && pool.gres_type == name) return true;
  return pool.model != nullptr && catalogue.Accepts(name, *pool.model);
}

bool IsNamedByAny(const GpuPool& pool, const std::vector<std::string>& names,
                  const GpuCatalogue& catalogue) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return IsNamed(pool, name, catalogue); });
}

// Every name of an allow-list must mean some GPU of the cluster.
Result<void> CheckNames(const std::vector<std::string>& names, const std::string& pointer,
                        const std::vector<GpuPool>& pools, const GpuCatalogue& catalogue) {
  for (size_t i = 0; i < names.size(); ++i) {
    bool known = std::any_of(pools.begin(), pools.end(), [&](const GpuPool& pool) {
      return IsNamed(pool, names[i], catalogue);
    });
    if (known) continue;
    return BadInput(
        fmt::format("this cluster has no GPU {}{}; it has {}", Quoted(names[i]),
                    DidYouMean(names[i], NamesOf(pools)), JoinNames(NamesOf(pools), 30)),
        fmt::format("{}/{}", pointer, i));
  }
  return {};
}

// A name to leave out may also mean a GPU that other clusters have.
Result<void> CheckExcluded(const std::vector<std::string>& names, const std::vector<GpuPool>& pools,
                           const GpuCatalogue& catalogue) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (catalogue.Resolve(names[i]) != nullptr) continue;
    const std::string pointer = fmt::format("/spec/resources/exclude_gpus/{}", i);
    const Result<void> checked = CheckNames({names[i]}, pointer, pools, catalogue);
    if (!checked) return BadInput(checked.error().message, pointer);
  }
  return {};
}

Result<void> CheckPartition(const std::string& name, const std::string& pointer,
                            const Snapshot& snapshot, const Submitter& caller) {
  if (CanSeePartition(caller, snapshot, name)) return {};
  const std::vector<std::string> names = VisiblePartitions(caller, snapshot);
  if (names.empty())
    return BadInput(fmt::format("there is no partition {}", Quoted(name)), pointer);
  return BadInput(fmt::format("there is no partition {}{}; partitions: {}", Quoted(name),
                              DidYouMean(name, names), JoinNames(names)),
                  pointer);
}

class Enumerator {
 public:
  Enumerator(const TrainSpec& spec, const Constraints& constraints, const Snapshot& snapshot,
             const std::vector<GpuPool>& pools, const Submitter& caller)
      : spec_(spec), constraints_(constraints), snapshot_(snapshot), pools_(pools) {
    qos_ = QosToTry(caller);
  }

  void AddPool(const GpuPool& pool) {
    if (std::string reason = WhyNever(pool); !reason.empty()) {
      found_.rejected.push_back({&pool, pool.gpus_per_node, 1, {reason}});
      return;
    }
    const bool is_slice = pool.model->is_mig_slice;
    if (is_slice && pool.gpus_per_node > 1) {
      found_.rejected.push_back(
          {&pool, pool.gpus_per_node, 1, {"slices have no peer-to-peer, so one slice per job"}});
    }
    for (int64_t gpus : CountsToTry(is_slice ? 1 : pool.gpus_per_node)) AddCount(pool, gpus);
  }

  Placements Take() { return std::move(found_); }

 private:
  // The caller's QOS: the fixed one, else the association's default and then what else it allows.
  std::vector<std::string> QosToTry(const Submitter& caller) const {
    const std::string& fixed = constraints_.qos;
    if (!fixed.empty()) return {fixed};
    std::vector<std::string> all = {""};
    if (snapshot_.config.enforce.find("qos") == std::string::npos) return all;
    for (const Association& association : snapshot_.associations) {
      if (association.user != caller.user || caller.user.empty()) continue;
      bool is_theirs = constraints_.account.empty() ? association.is_default
                                                    : association.account == constraints_.account;
      if (!is_theirs) continue;
      for (const std::string& qos : association.qos) {
        if (qos != association.default_qos) all.push_back(qos);
      }
      break;
    }
    return all;
  }

  // Why no count of these GPUs will do; "" when some may.
  std::string WhyNever(const GpuPool& pool) const {
    if (pool.model == nullptr) {
      return fmt::format(
          "unknown GPU type '{}': the site can name it in gpu_aliases or untyped_gpus",
          pool.gres_type);
    }
    if (pool.usable.empty()) {
      return pool.nodes.size() == 1
                 ? fmt::format("its node {} is down or drained", pool.nodes[0]->name)
                 : fmt::format("all {} nodes are down or drained", pool.nodes.size());
    }
    if (pool.partition->state != PartitionState::kUp) {
      return fmt::format("partition {} starts no jobs now", pool.partition->name);
    }
    return WhyUnfit(spec_, *pool.model);
  }

  std::vector<int64_t> CountsToTry(int64_t most) const {
    if (constraints_.gpus_per_node) return {*constraints_.gpus_per_node};
    if (!constraints_.gpus_total) return CountsOnANode(most);
    return {constraints_.nodes ? *constraints_.gpus_total / *constraints_.nodes
                               : std::min(*constraints_.gpus_total, most)};
  }

  void AddCount(const GpuPool& pool, int64_t gpus) {
    if (gpus > pool.gpus_per_node) {
      Reject(pool, gpus, 1, fmt::format("its nodes have {}", Plural(pool.gpus_per_node, "GPU")));
      return;
    }
    if (pool.model->is_mig_slice && gpus > 1) return;  // said once, above
    const bool whole = gpus == pool.gpus_per_node && !pool.model->is_mig_slice;
    int64_t most = std::min<int64_t>(spec_.resources.max_nodes.value_or(1),
                                     static_cast<int64_t>(pool.usable.size()));
    std::vector<int64_t> node_counts = {1};
    for (int64_t nodes = 2; whole && nodes <= most; nodes *= 2) node_counts.push_back(nodes);
    if (constraints_.nodes) {
      node_counts = {*constraints_.nodes};
    } else if (constraints_.gpus_total) {
      const int64_t total = *constraints_.gpus_total;
      node_counts = {(total + gpus - 1) / gpus};
      std::string reason = WhyNotOn(pool, total, gpus, node_counts.front());
      if (!reason.empty()) return Reject(pool, gpus, node_counts.front(), std::move(reason));
    }
    for (int64_t nodes : node_counts) AddShape(pool, gpus, nodes);
  }

  // Why a fixed total cannot be on so many nodes; "" where it can.
  std::string WhyNotOn(const GpuPool& pool, int64_t total, int64_t gpus, int64_t nodes) const {
    if (nodes == 1) return "";
    if (pool.model->is_mig_slice) return "slices have no peer-to-peer, so one slice per job";
    if (total % gpus != 0) {
      return fmt::format("{} GPUs are not a multiple of the {} on a node", total, gpus);
    }
    if (nodes <= spec_.resources.max_nodes.value_or(nodes)) return "";
    return fmt::format("{} GPUs need {} nodes, max_nodes is {}", total, nodes,
                       *spec_.resources.max_nodes);
  }

  void AddShape(const GpuPool& pool, int64_t gpus, int64_t nodes) {
    if (nodes > static_cast<int64_t>(pool.usable.size())) {
      Reject(pool, gpus, nodes,
             fmt::format("only {} can be used",
                         Plural(static_cast<int64_t>(pool.usable.size()), "node")));
      return;
    }
    if (spec_.resources.max_gpus && gpus * nodes > *spec_.resources.max_gpus) return;
    Placement placement{.pool = &pool,
                        .gpus_per_node = gpus,
                        .nodes = nodes,
                        .cpus_per_node = 1,
                        .memory_per_node_mib = {},
                        .qos = qos_,
                        .selector = MakeSelector(pool, pools_)};
    if (std::string reason = SizeHost(placement); !reason.empty()) {
      Reject(pool, gpus, nodes, reason);
      return;
    }
    found_.possible.push_back(std::move(placement));
  }

  // CPUs and memory for the GPUs: the spec's, else the GPUs' share of the node. "" or why not.
  std::string SizeHost(Placement& placement) const {
    const GpuPool& pool = *placement.pool;
    int64_t cpus = 0, memory = 0;
    for (const Node* node : pool.usable) {
      cpus = std::max(cpus, node->cpus);
      memory = std::max(memory, node->memory_mib);
    }
    const int64_t gpus = placement.gpus_per_node;
    if (auto each = spec_.resources.cpus_per_gpu) {
      placement.cpus_per_node = gpus * *each;
      if (placement.cpus_per_node > cpus) {
        return fmt::format("cpus_per_gpu {} needs {} CPUs, its nodes have {}: at most {} a GPU",
                           *each, placement.cpus_per_node, cpus, cpus / gpus);
      }
    } else {
      placement.cpus_per_node = std::max<int64_t>(1, cpus * gpus / pool.gpus_per_node);
    }
    if (auto each = spec_.resources.mem_per_gpu_bytes) {
      constexpr int64_t kMiB = 1 << 20;
      placement.memory_per_node_mib = gpus * ((*each + kMiB - 1) / kMiB);
      if (*placement.memory_per_node_mib > memory) {
        return fmt::format("mem_per_gpu needs {} MiB, its nodes have {} MiB",
                           *placement.memory_per_node_mib, memory);
      }
    } else if (!HasDefaultMemory(*pool.partition)) {
      placement.memory_per_node_mib = memory * gpus / pool.gpus_per_node;
    }
    return {};
  }

  bool HasDefaultMemory(const Partition& partition) const {
    return partition.default_memory_per_cpu_mib.has_value() ||
           partition.default_memory_per_node_mib.has_value() ||
           snapshot_.config.default_memory_per_cpu_mib.has_value() ||
           snapshot_.config.default_memory_per_node_mib.has_value();
  }

  void Reject(const GpuPool& pool, int64_t gpus, int64_t nodes, std::string reason) {
    found_.rejected.push_back({&pool, gpus, nodes, {std::move(reason)}});
  }

  const TrainSpec& spec_;
  const Constraints& constraints_;
  const Snapshot& snapshot_;
  const std::vector<GpuPool>& pools_;
  std::vector<std::string> qos_;
  Placements found_;
};

Result<void> CheckCounts(const Constraints& constraints, const std::vector<GpuPool>& pools) {
  int64_t most_per_node = 0, most_nodes = 0;
  for (const GpuPool& pool : pools) {
    most_per_node = std::max(most_per_node, pool.gpus_per_node);
    most_nodes = std::max(most_nodes, static_cast<int64_t>(pool.nodes.size()));
  }
  if (constraints.gpus_per_node && *constraints.gpus_per_node > most_per_node) {
    return BadInput(fmt::format("{} per node, but no node has more than {}",
                                Plural(*constraints.gpus_per_node, "GPU"), most_per_node),
                    "/constraints/gpus_per_node");
  }
  if (constraints.nodes && *constraints.nodes > most_nodes) {
    return BadInput(fmt::format("{} of one GPU type, but there are only {}",
                                Plural(*constraints.nodes, "node"), most_nodes),
                    "/constraints/nodes");
  }
  if (!constraints.gpus_total) return {};
  const int64_t on_each = constraints.gpus_per_node.value_or(1) * constraints.nodes.value_or(1);
  const bool both = constraints.gpus_per_node && constraints.nodes;
  if (both ? *constraints.gpus_total == on_each : *constraints.gpus_total % on_each == 0) return {};
  return BadInput(fmt::format("{} cannot be divided evenly as gpus_per_node and nodes say",
                              Plural(*constraints.gpus_total, "GPU")),
                  "/constraints/gpus_total");
}

}  // namespace

Result<Placements> FindPlacements(const TrainSpec& spec, const Constraints& constraints,
                                  const Snapshot& snapshot, const std::vector<GpuPool>& pools,
                                  const GpuCatalogue& catalogue, const Submitter& caller) {
  const std::vector<std::string>& allowed = spec.resources.gpus;
  Result<void> checked = CheckNames(allowed, "/spec/resources/gpus", pools, catalogue);
  if (checked) checked = CheckExcluded(spec.resources.exclude_gpus, pools, catalogue);
  if (checked) checked = CheckPrices(spec.resources.prices, "/spec/resources/prices", catalogue);
  if (checked) checked = CheckNames(constraints.gpus, "/constraints/gpus", pools, catalogue);
  if (checked && !constraints.partition.empty()) {
    bool from_spec = constraints.partition == spec.slurm.partition;
    checked = CheckPartition(constraints.partition,
                             from_spec ? "/spec/slurm/partition" : "/constraints/partition",
                             snapshot, caller);
  }
  if (checked) checked = CheckCounts(constraints, pools);
  if (!checked) return tl::unexpected<Error>(checked.error());

  Enumerator enumerator(spec, constraints, snapshot, pools, caller);
  const std::vector<std::string>& excluded = spec.resources.exclude_gpus;
  bool all_excluded = !excluded.empty();
  for (const GpuPool& pool : pools) {
    if (!constraints.partition.empty() && pool.partition->name != constraints.partition) continue;
    if (!allowed.empty() && !IsNamedByAny(pool, allowed, catalogue)) continue;
    if (!constraints.gpus.empty() && !IsNamedByAny(pool, constraints.gpus, catalogue)) continue;
    if (IsNamedByAny(pool, excluded, catalogue)) continue;
    all_excluded = false;
    enumerator.AddPool(pool);
  }
  if (all_excluded) {
    return BadInput("exclude_gpus leaves no GPU to consider: take a name out",
                    "/spec/resources/exclude_gpus");
  }
  return enumerator.Take();
}

}  // namespace gpuadvise
