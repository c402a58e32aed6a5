// GET /v1/queue: the jobs of the cluster with when each will start.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/answer_jobs.h"
#include "common/gres.h"
#include "common/node_pool.h"
#include "common/pending_reason.h"
#include "common/policy.h"
#include "common/snapshot_json.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

constexpr size_t kMostRows = 10'000;

json TimeOrNull(const std::optional<UnixSeconds>& time) { return time ? json(*time) : json(); }

std::string GresOf(const Job& job) {
  if (!job.request.gpus_per_node.empty()) return ToGresText(job.request.gpus_per_node);
  return ToGresText(job.request.gpus_total);
}

std::string Joined(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

bool IsHidden(const Snapshot& snapshot, const std::vector<std::string>& partitions) {
  return std::all_of(partitions.begin(), partitions.end(), [&](const std::string& name) {
    const Partition* partition = FindPartition(snapshot, name);
    return partition == nullptr || partition->hidden;
  });
}

/// Those that wait in the order in which they are said to start, then those that run by id.
std::vector<const Job*> InOrder(std::vector<const Job*> jobs, const QueueStarts& starts) {
  const auto median = [&](const Job* job) {
    const auto found = starts.find(job->id);
    return found == starts.end() ? 1e18 : found->second.Quantile(0.5);
  };
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Job* a, const Job* b) {
    if (HoldsNodes(*a) != HoldsNodes(*b)) return HoldsNodes(*b);
    return !HoldsNodes(*a) && median(a) < median(b);
  });
  return jobs;
}

}  // namespace

bool MaySee(const Snapshot& snapshot, const Job& job, const Submitter& caller) {
  if (caller.uid < 0) return false;
  if (!HasFlag(snapshot.config.private_data, "jobs")) return true;
  return caller.uid == 0 || (caller.uid >= 0 && caller.uid == job.uid);
}

void AddStart(const StartSamples& start, UnixSeconds now, json& into) {
  for (const auto& [name, q] : {std::pair{"p10", .1}, {"p50", .5}, {"p90", .9}}) {
    const int64_t wait = std::llround(start.Quantile(q));
    into[std::string("wait_") + name + "_seconds"] = wait;
    into[std::string("start_") + name] = now + wait;
  }
  into["wait_mean_seconds"] = std::llround(start.Mean());
}

json JobJson(const Job& job, const StartSamples* start, const ClusterView& view,
             const Submitter& caller) {
  const bool seen = MaySee(view.snapshot, job, caller);
  json row = {{"job_id", job.id},
              {"array_tasks", job.array_tasks},
              {"name", seen ? json(job.name) : json()},
              {"user", seen ? json(job.user) : json()},
              {"account", seen ? json(job.account) : json()},
              {"qos", seen ? json(job.qos) : json()},
              {"partition", Joined(job.request.partitions)},
              {"state", NameOf(job.state)},
              {"gres", GresOf(job)},
              {"nodes", job.request.nodes_min},
              {"time_limit_seconds", job.request.time_limit_seconds.has_value()
                                         ? json(job.request.time_limit_seconds.value())
                                         : json()},
              {"priority", job.priority},
              {"submit_time", TimeOrNull(job.submit_time)}};
  if (HoldsNodes(job)) {
    row["start_time"] = TimeOrNull(job.start_time);
    row["end_time"] = TimeOrNull(job.end_time);
    return row;
  }
  const ReasonInWords reason = PendingReasonInWords(job.reason);
  row["reason"] = job.reason;
  row["reason_words"] = reason.meaning;
  row["clears"] = reason.clears;
  row["slurm_start"] = TimeOrNull(job.start_time);
  row["jobs_before"] = start == nullptr ? json() : json(start->jobs_before);
  if (start != nullptr) {
    AddStart(*start, view.snapshot.taken_at, row);
  } else {
    row["wait_p50_seconds"] = nullptr;
  }
  return row;
}

json AnswerQueue(const QueueFilter& filter, const ClusterView& view, const QueueStarts& starts,
                 const Submitter& caller) {
  std::vector<const Job*> jobs;
  int64_t hidden = 0;
  for (const Job& job : view.snapshot.jobs) {
    const auto& partitions = job.request.partitions;
    if (!filter.partition.empty() &&
        std::find(partitions.begin(), partitions.end(), filter.partition) == partitions.end()) {
      continue;
    }
    if (filter.running && *filter.running != HoldsNodes(job)) continue;
    if (caller.uid < 0 && IsHidden(view.snapshot, partitions)) continue;
    if (!filter.user.empty()) {
      if (!MaySee(view.snapshot, job, caller)) ++hidden;
      if (!MaySee(view.snapshot, job, caller) || job.user != filter.user) continue;
    }
    jobs.push_back(&job);
  }
  jobs = InOrder(std::move(jobs), starts);
  json rows = json::array();
  for (const Job* job : jobs) {
    if (rows.size() >= std::min(filter.limit, kMostRows)) break;
    const auto start = starts.find(job->id);
    rows.push_back(JobJson(*job, start == starts.end() ? nullptr : &start->second, view, caller));
  }
  return {{"jobs", rows}, {"total", jobs.size()}, {"hidden", hidden}};
}

}  // namespace gpuadvise
