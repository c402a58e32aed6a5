#include "common/answer_queue.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "common/answer_jobs.h"
#include "common/gres.h"
#include "common/node_pool.h"
#include "common/pending_reason.h"
#include "common/policy.h"
#include "common/queue_pools.h"
#include "common/snapshot_json.h"
#include "common/text_search.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

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

/// One job of the answer and where it stands in it.
struct Ordered {
  bool runs = false;
  double median = 0;  // of the start, where it waits
  const Job* job = nullptr;

  friend bool operator<(const Ordered& a, const Ordered& b) {
    return std::tie(a.runs, a.median, a.job->id) < std::tie(b.runs, b.median, b.job->id);
  }
};

/// Those that wait in the order in which they are said to start, then those that run by id: the
/// same for every page of one view.
std::vector<Ordered> InOrder(const std::vector<const Job*>& jobs, const QueueStarts& starts) {
  constexpr double kNoStart = 1e18;
  std::vector<Ordered> ordered;
  ordered.reserve(jobs.size());
  for (const Job* job : jobs) {
    if (HoldsNodes(*job)) {
      ordered.push_back({true, 0, job});
      continue;
    }
    const auto found = starts.find(job->id);
    ordered.push_back({false, found == starts.end() ? kNoStart : found->second.Quantile(0.5), job});
  }
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

std::vector<const Job*> PageOf(const std::vector<Ordered>& ordered, const QueueFilter& filter) {
  const size_t from = std::min(filter.offset, ordered.size());
  const size_t end = from + std::min({filter.limit, kMostQueueRows, ordered.size() - from});
  std::vector<const Job*> page;
  for (size_t i = from; i < end; ++i) page.push_back(ordered[i].job);
  return page;
}

std::vector<int64_t> IdsOf(const std::vector<const Job*>& jobs) {
  std::vector<int64_t> ids;
  for (const Job* job : jobs) ids.push_back(job->id);
  return ids;
}

/// Whether `search` is the number of the job, of its array or of the job that it is a part of.
bool IsIdOf(const Job& job, const std::string& search) {
  for (const int64_t id : {job.id, job.array_job_id, job.het_job_id}) {
    if (id > 0 && std::to_string(id) == search) return true;
  }
  return false;
}

bool IsFound(const Job& job, const std::string& search) {
  return ContainsInAnyCase(job.name, search) || ContainsInAnyCase(job.user, search) ||
         ContainsInAnyCase(job.account, search);
}

/// Which jobs a filter leaves, and how many it leaves out because the caller may not see whose
/// they are.
class QueueChoice {
 public:
  QueueChoice(const QueueFilter& filter, const ClusterView& view, const Submitter& caller,
              const Seen& seen, GpuLabels& labels)
      : filter_(filter), view_(view), caller_(caller), seen_(seen), labels_(labels) {}

  bool Takes(const Job& job) {
    const auto& partitions = job.request.partitions;
    if (!filter_.partition.empty() && !seen_.SeesNamed(filter_.partition)) return false;
    if (!filter_.partition.empty() &&
        std::find(partitions.begin(), partitions.end(), filter_.partition) == partitions.end()) {
      return false;
    }
    if (filter_.running && *filter_.running != HoldsNodes(job)) return false;
    if (!seen_.SeesOneOf(partitions)) return false;
    if (!filter_.gpu.empty() && labels_.OfJob(job).id != filter_.gpu) return false;
    const bool by_id = !filter_.search.empty() && IsIdOf(job, filter_.search);
    if (filter_.user.empty() && (filter_.search.empty() || by_id)) return true;
    if (!MaySee(view_.snapshot, job, caller_)) {
      ++hidden_;
      return false;
    }
    if (!filter_.user.empty() && job.user != filter_.user) return false;
    return by_id || IsFound(job, filter_.search);
  }

  int64_t hidden() const { return hidden_; }

 private:
  const QueueFilter& filter_;
  const ClusterView& view_;
  const Submitter& caller_;
  const Seen& seen_;
  GpuLabels& labels_;
  int64_t hidden_ = 0;
};

/// The part of a row that only a job that runs has.
void AddEnd(const Job& job, const JobLookups& lookups, json& row) {
  const auto end = lookups.ends.EndOf(job.id);
  row["start_time"] = TimeOrNull(job.start_time);
  row["end_time"] = TimeOrNull(job.end_time);
  row["end_p50"] = end ? json(end->p50) : json();
  row["end_p90"] = end ? json(end->p90) : json();
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
             const Submitter& caller, const JobLookups& lookups) {
  const GpuLabel& gpu = lookups.gpus.OfJob(job);
  const bool seen = MaySee(view.snapshot, job, caller);
  json row = {{"job_id", job.id},
              {"array_tasks", job.array_tasks},
              {"array_task_count", job.array_task_count},
              {"name", seen ? json(job.name) : json()},
              {"user", seen ? json(job.user) : json()},
              {"account", seen ? json(job.account) : json()},
              {"qos", seen ? json(job.qos) : json()},
              {"partition", Joined(lookups.seen.SeenOf(job.request.partitions))},
              {"state", NameOf(job.state)},
              {"gres", GresOf(job)},
              {"gpu", gpu.id},
              {"gpu_name", gpu.name},
              {"gpus", GpusOfJob(job)},
              {"nodes", job.request.nodes_min},
              {"time_limit_seconds", job.request.time_limit_seconds.has_value()
                                         ? json(job.request.time_limit_seconds.value())
                                         : json()},
              {"priority", job.priority},
              {"submit_time", TimeOrNull(job.submit_time)}};
  if (HoldsNodes(job)) {
    AddEnd(job, lookups, row);
    return row;
  }
  const ReasonInWords reason = PendingReasonInWords(job.reason);
  row["reason"] = job.reason;
  row["reason_words"] = reason.meaning;
  row["clears"] = reason.clears;
  row["slurm_start"] = TimeOrNull(job.start_time);
  const auto run_time = lookups.ends.RunTimeOf(job.id);
  row["run_p50_seconds"] = run_time ? json(*run_time) : json();
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
  const Seen seen(view.snapshot, caller);
  GpuLabels gpus(view.snapshot, view.gpus);
  QueueChoice choice(filter, view, caller, seen, gpus);
  std::vector<const Job*> jobs;
  for (const Job& job : view.snapshot.jobs) {
    if (choice.Takes(job)) jobs.push_back(&job);
  }
  const std::vector<const Job*> page = PageOf(InOrder(jobs, starts), filter);
  const JobEnds ends(view.queue, IdsOf(page));
  const JobLookups lookups{gpus, seen, ends};
  json rows = json::array();
  for (const Job* job : page) {
    const auto start = starts.find(job->id);
    rows.push_back(
        JobJson(*job, start == starts.end() ? nullptr : &start->second, view, caller, lookups));
  }
  return {{"jobs", std::move(rows)},
          {"total", jobs.size()},
          {"hidden", choice.hidden()},
          {"offset", filter.offset},
          {"pools", QueuePools(view.snapshot, seen, gpus)}};
}

}  // namespace gpuadvise
