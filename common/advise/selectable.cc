#include "common/advise/selectable.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/base/words.h"
#include "common/slurm/gres.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

// What a job without the option gets; nothing said is everything.
int64_t OwnLimit(const Partition& partition) {
  const SlurmNumber own = partition.default_time_seconds.absent() ? partition.max_time_seconds
                                                                  : partition.default_time_seconds;
  return own.value_or(INT64_MAX);
}

bool GivesLess(SlurmNumber here, SlurmNumber there) {
  return here.value_or(0) > 0 && (there.value_or(0) == 0 || here.value() < there.value());
}

// Rules about partitions that the job has not named itself.
class OpenPartition {
 public:
  OpenPartition(const OpenJob& job, const Snapshot& snapshot)
      : job_(job), home_(DefaultPartition(snapshot)) {}

  // "" when it may be chosen.
  std::string WhyNot(const Partition& partition) const {
    if (IsOneOf(partition.name, job_.avoided)) return "excluded by the site";
    if (partition.state != PartitionState::kUp) return "it starts no jobs now";
    if (!partition.allow_groups.empty() && !MemberOfAny(partition.allow_groups)) {
      return "it is for the groups " + JoinNames(partition.allow_groups);
    }
    if (home_ == nullptr || home_ == &partition) return "";
    if (job_.request.time_limit_seconds.absent() && OwnLimit(partition) < OwnLimit(*home_)) {
      return fmt::format("without -t its limit is {}, {}'s is {}",
                         DurationInWords(static_cast<double>(OwnLimit(partition))), home_->name,
                         HomeLimitInWords());
    }
    if (!SaysMemory() && LessMemory(partition)) {
      return "without --mem it gives a job less memory than " + home_->name;
    }
    return "";
  }

 private:
  bool MemberOfAny(const std::vector<std::string>& groups) const {
    return std::any_of(groups.begin(), groups.end(),
                       [&](const std::string& group) { return IsOneOf(group, job_.groups); });
  }
  std::string HomeLimitInWords() const {
    const int64_t limit = OwnLimit(*home_);
    return limit == INT64_MAX ? "no limit" : DurationInWords(static_cast<double>(limit));
  }
  bool SaysMemory() const {
    return !job_.request.memory_per_node_mib.absent() || !job_.request.memory_per_cpu_mib.absent();
  }
  bool LessMemory(const Partition& partition) const {
    return GivesLess(partition.default_memory_per_cpu_mib, home_->default_memory_per_cpu_mib) ||
           GivesLess(partition.default_memory_per_node_mib, home_->default_memory_per_node_mib);
  }

  const OpenJob& job_;
  const Partition* home_;
};

// Why these GPUs will not do, wherever they are; "" when they may.
std::string WhyUnfit(const OpenJob& job, const GpuPool& pool) {
  if (pool.usable.empty()) return "its nodes are down or drained";
  if (job.types_fixed()) return "";
  if (pool.model == nullptr) {
    return job.min_gpu_memory_bytes > 0 ? "the memory of these GPUs is not known" : "";
  }
  if (pool.model->memory_bytes < job.min_gpu_memory_bytes) {
    return fmt::format("it has {:g} GiB of memory", pool.model->memory_gb);
  }
  if (pool.model->is_mig_slice && job.gpus() > 1) {
    return "slices have no peer-to-peer, so one slice per job";
  }
  return "";
}

bool IsOfAskedType(const OpenJob& job, const GpuPool& pool) {
  if (!job.types_fixed()) return true;
  return std::any_of(job.request.gpus_per_node.begin(), job.request.gpus_per_node.end(),
                     [&](const GpuCount& count) { return count.type == pool.gres_type; }) ||
         std::any_of(job.request.gpus_total.begin(), job.request.gpus_total.end(),
                     [&](const GpuCount& count) { return count.type == pool.gres_type; });
}

// One kind of GPU in the partitions that the job names, or one partition where the type is fixed.
bool BelongTogether(const OpenJob& job, const GpuPool& a, const GpuPool& b) {
  if (job.types_fixed()) return a.partition == b.partition;
  return job.partition_fixed() && a.gres_type == b.gres_type && a.model == b.model;
}

}  // namespace

int64_t OpenJob::gpus() const {
  return std::max(TotalGpus(request.gpus_per_node) * std::max<int64_t>(request.nodes_min, 1),
                  TotalGpus(request.gpus_total));
}

Selectables FindSelectable(const OpenJob& job, const OneJob& one_job, const Snapshot& snapshot,
                           const std::vector<GpuPool>& pools) {
  const OpenPartition open(job, snapshot);
  Selectables found;
  for (const GpuPool& pool : pools) {
    if (job.partition_fixed() && !IsOneOf(pool.partition->name, job.request.partitions)) continue;
    if (!IsOfAskedType(job, pool)) continue;
    std::string reason = WhyUnfit(job, pool);
    if (reason.empty() && !job.partition_fixed()) reason = open.WhyNot(*pool.partition);
    if (!reason.empty()) {
      found.impossible.push_back({&pool, reason});
      continue;
    }
    const auto same = std::find_if(
        found.possible.begin(), found.possible.end(),
        [&](const Selectable& other) { return BelongTogether(job, *other.pools.front(), pool); });
    if (same == found.possible.end()) {
      found.possible.push_back({{&pool}, {}});
    } else {
      same->pools.push_back(&pool);
    }
  }
  std::erase_if(found.possible, [&](Selectable& each) {
    const auto options = one_job.OptionsFor(each.pools);
    if (options) {
      each.options = *options;
    } else {
      found.impossible.push_back(
          {each.pools.front(), "no node feature selects these GPUs in the partition"});
    }
    return !options;
  });
  return found;
}

}  // namespace gpuadvise
