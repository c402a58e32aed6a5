#include "daemon/metrics/cluster_metrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/gpu/gpu_labels.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/queue_order.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {
namespace {

constexpr const char* kOther = "other";

// What all families are made from.
struct MetricsWorld {
  const Snapshot& snapshot;
  const Visibility& seen;
  const KeptNodes& kept;
  GpuLabels& labels;
};

void AddTally(Gauges& gauges, std::vector<std::string> of, const GpuTally& tally) {
  of.emplace_back();
  for (const auto& [state, count] : {std::pair{"used", tally.used},
                                     {"free", tally.free},
                                     {"promised", tally.promised},
                                     {"unavailable", tally.unavailable}}) {
    of.back() = state;
    gauges.Add(of, static_cast<double>(count));
  }
}

void AddGpus(const MetricsWorld& world, MetricFamilies& into) {
  Gauges by_type("gpuadvise_gpus", "GPUs by type, each counted once", {"gpu", "state"});
  for (const Node& node : world.snapshot.nodes) {
    if (!world.seen.SeesOneOf(world.labels.PartitionsOf(node.name))) continue;
    for (const GpuCount& gpus : node.gpus) {
      AddTally(by_type, {world.labels.LabelOf(node, gpus.type).id},
               GpuTallyOf(node, gpus.type, world.kept.contains(node.name)));
    }
  }
  std::move(by_type).MoveTo(into);
  Gauges by_partition("gpuadvise_partition_gpus",
                      "GPUs by partition and type; partitions may share nodes",
                      {"partition", "gpu", "state"});
  for (const PoolCount& pool : CountPools(world.snapshot, world.seen, world.kept, world.labels)) {
    if (!pool.gpu.id.empty()) AddTally(by_partition, {pool.partition, pool.gpu.id}, pool.gpus);
  }
  std::move(by_partition).MoveTo(into);
}

void AddJobs(const MetricsWorld& world, MetricFamilies& into) {
  const std::vector<std::string> labels = {"partition", "gpu", "state"};
  Gauges jobs("gpuadvise_jobs", "Jobs by partition and GPU type; gpu is empty without GPUs",
              labels);
  Gauges gpus("gpuadvise_job_gpus", "GPUs that these jobs hold, or wait for", labels);
  Gauges startable("gpuadvise_eligible_job_gpus",
                   "GPUs that pending jobs wait for which only the lack of room keeps",
                   {"partition", "gpu"});
  for (const Job& job : world.snapshot.jobs) {
    const std::string& gpu = world.labels.FindJobLabel(job).id;
    const bool runs = HoldsNodes(job);
    const auto count = static_cast<double>(runs ? 1 : job.array_task_count);
    const auto held = static_cast<double>(GpusOfJob(job));
    const bool is_eligible =
        !runs && !IsHoldReason(job.reason) && EligibleFrom(job, world.snapshot.taken_at) == 0;
    for (const std::string& partition : world.seen.SeenOf(job.request.partitions)) {
      const std::vector<std::string> of = {partition, gpu, runs ? "running" : "pending"};
      jobs.Add(of, count);
      gpus.Add(of, held * count);
      if (is_eligible) startable.Add({partition, gpu}, held * count);
    }
  }
  std::move(jobs).MoveTo(into);
  std::move(gpus).MoveTo(into);
  std::move(startable).MoveTo(into);
}

struct AccountUse {  // GPUs
  int64_t pending = 0, running = 0;
};

using AccountRows = std::vector<std::pair<std::string, AccountUse>>;

// Those with most to show, and the rest as one.
AccountRows AccountsOf(const MetricsWorld& world) {
  std::map<std::string, AccountUse> all;
  for (const Job& job : world.snapshot.jobs) {
    if (!world.seen.SeesOneOf(job.request.partitions)) continue;
    AccountUse& use = all[LabelValue(job.account)];
    if (HoldsNodes(job)) {
      use.running += GpusOfJob(job);
    } else {
      use.pending += GpusOfJob(job) * job.array_task_count;
    }
  }
  AccountRows rows(all.begin(), all.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.running + a.second.pending > b.second.running + b.second.pending;
  });
  if (rows.size() <= kMostAccountLabels) return rows;
  AccountUse rest;
  for (size_t i = kMostAccountLabels; i < rows.size(); ++i) {
    rest.pending += rows[i].second.pending;
    rest.running += rows[i].second.running;
  }
  rows.resize(kMostAccountLabels);
  rows.emplace_back(kOther, rest);
  return rows;
}

void AddAccounts(const MetricsWorld& world, MetricFamilies& into) {
  Gauges gpus("gpuadvise_account_gpus", "GPUs that the account's jobs hold, or wait for",
              {"account", "state"});
  for (const auto& [account, use] : AccountsOf(world)) {
    gpus.Add({account, "pending"}, static_cast<double>(use.pending));
    gpus.Add({account, "running"}, static_cast<double>(use.running));
  }
  std::move(gpus).MoveTo(into);
}

}  // namespace

MetricFamilies ClusterMetrics(const Snapshot& snapshot, const GpuNaming& naming,
                              const MetricsReader& reader) {
  Submitter caller;
  if (reader.sees_hidden) caller.uid = 0;
  const Visibility seen(snapshot, caller);
  const KeptNodes kept = NodesKeptNow(snapshot);
  GpuLabels labels(snapshot, naming);
  const MetricsWorld world{snapshot, seen, kept, labels};
  MetricFamilies families;
  AddGpus(world, families);
  AddJobs(world, families);
  if (reader.sees_accounts) AddAccounts(world, families);
  return families;
}

}  // namespace gpuadvise::daemon
