// GET /v1/timeline: who had, has and will have the GPUs of nodes, from the past that the daemon has
// seen, the snapshot and the forecast.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/api/timeline.h"
#include "common/forecast/job_ends.h"
#include "common/forecast/queue_starts.h"
#include "common/gpu/gpu_labels.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/policy.h"
#include "daemon/answers/job_json.h"
#include "daemon/answers/node_match.h"
#include "daemon/answers/views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {
namespace {

// Jobs that hold or will hold a node, with the GPUs that each takes there.
struct NodeHolder {
  const Job* job = nullptr;
  int64_t gpus = 0;
};

using Holders = std::unordered_map<std::string_view, std::vector<NodeHolder>>;

Holders HoldersOf(const std::vector<const Node*>& page, const Snapshot& snapshot,
                  const QueueStarts& starts) {
  Holders holders;
  for (const Node* node : page) holders[node->name];
  const auto add = [&](const std::string& node, const Job& job, int64_t gpus) {
    const auto found = holders.find(node);
    if (found != holders.end() && gpus > 0) found->second.push_back({&job, gpus});
  };
  for (const Job& job : snapshot.jobs) {
    if (HoldsNodes(job)) {
      for (const Allocation& part : job.allocations) add(part.node, job, TotalGpus(part.gpus));
      continue;
    }
    const auto start = starts.find(job.id);
    if (start == starts.end() || start->second.nodes.empty()) continue;
    const auto nodes = static_cast<int64_t>(start->second.nodes.size());
    const int64_t gpus = (GpusOfJob(job) + nodes - 1) / nodes;
    for (const std::string& name : start->second.nodes) add(name, job, gpus);
  }
  return holders;
}

std::vector<int64_t> IdsIn(const Holders& holders) {
  std::vector<int64_t> ids;
  for (const auto& [name, jobs] : holders) {
    for (const NodeHolder& holder : jobs) ids.push_back(holder.job->id);
  }
  return ids;
}

class TimelineRows {
 public:
  TimelineRows(const std::vector<const Node*>& page, const AdviceContext& context,
               const QueueStarts& starts, const NodePast* past, const Submitter& caller,
               const Visibility& seen)
      : context_(context),
        starts_(starts),
        past_(past),
        caller_(caller),
        seen_(seen),
        holders_(HoldersOf(page, context.snapshot, starts)),
        ends_(context.queue, IdsIn(holders_)) {}

  // Those of `node` between two moments. REQUIRES: it is one of the page.
  std::vector<api::TimelineJob> JobsOf(const Node& node, UnixSeconds from,
                                       UnixSeconds until) const {
    std::vector<api::TimelineJob> jobs;
    if (past_ != nullptr) {
      for (const NodeRun& run : past_->On(node.name)) {
        if (run.end <= from || !seen_.SeesOneOf(run.job->partitions)) continue;
        api::TimelineJob& bar = jobs.emplace_back(BarOf("ended", run.job->id, run.gpus, run.start));
        bar.end = run.end;
        if (MaySeeJobsOf(run.job->uid, context_.snapshot, caller_)) bar.user = run.job->user;
      }
    }
    for (const auto& [job, gpus] : holders_.at(node.name)) {
      if (!seen_.SeesOneOf(job->request.partitions)) continue;
      api::TimelineJob bar = HoldsNodes(*job) ? Running(*job, gpus) : Forecast(*job, gpus);
      if (bar.start >= until) continue;
      if (MaySee(context_.snapshot, *job, caller_)) {
        bar.name = job->name;
        bar.user = job->user;
      }
      jobs.push_back(std::move(bar));
    }
    std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
      return std::tie(a.start, a.job_id) < std::tie(b.start, b.job_id);
    });
    return jobs;
  }

 private:
  static api::TimelineJob BarOf(const char* kind, int64_t id, int64_t gpus, UnixSeconds start) {
    api::TimelineJob bar;
    bar.job_id = id;
    bar.gpus = gpus;
    bar.kind = kind;
    bar.start = start;
    return bar;
  }

  api::TimelineJob Running(const Job& job, int64_t gpus) const {
    api::TimelineJob bar = BarOf("running", job.id, gpus, job.start_time.value_or(Now()));
    bar.end = job.end_time;
    if (const auto end = ends_.EndOf(job.id)) {
      bar.end = end->p50;
      bar.end_p90 = end->p90;
    }
    return bar;
  }

  api::TimelineJob Forecast(const Job& job, int64_t gpus) const {
    const StartSamples& start = starts_.at(job.id);
    api::TimelineJob bar =
        BarOf("forecast", job.id, gpus, Now() + std::llround(start.Quantile(.5)));
    bar.start_p90 = Now() + std::llround(start.Quantile(.9));
    if (const auto seconds = ends_.RunTimeOf(job.id)) bar.end = bar.start + *seconds;
    return bar;
  }

  UnixSeconds Now() const { return context_.snapshot.taken_at; }

  const AdviceContext& context_;
  const QueueStarts& starts_;
  const NodePast* const past_;
  const Submitter& caller_;
  const Visibility& seen_;
  const Holders holders_;
  const JobEnds ends_;
};

}  // namespace

nlohmann::json AnswerTimeline(const TimelineFilter& filter, const AdviceContext& context,
                              const QueueStarts& starts, const NodePast* past,
                              const Submitter& caller) {
  const Snapshot& snapshot = context.snapshot;
  api::Timeline answer;
  answer.start = snapshot.taken_at - filter.hours * 3600;
  answer.until = snapshot.taken_at + filter.hours * 3600;
  if (HasFlag(snapshot.config.private_data, "nodes") && caller.uid != 0) {
    nlohmann::json document = ToJson(answer);
    document["warnings"] = {"this site keeps its nodes private (PrivateData)"};
    return document;
  }
  const Visibility seen(snapshot, caller);
  const KeptNodes kept = NodesKeptNow(snapshot);
  GpuLabels labels(snapshot, context.gpus);
  MatchingNodes matching = MatchNodes(snapshot, filter, seen, caller, kept, labels);
  std::erase_if(matching.nodes, [](const Node* node) { return node->gpus.empty(); });
  const std::vector<const Node*> page = matching.PageOf(filter, kMostTimelineNodes);
  const TimelineRows rows(page, context, starts, past, caller, seen);
  for (const Node* node : page) {
    const GpuLabel& label = labels.LabelOf(*node, node->gpus.front().type);
    std::vector<api::TimelineJob> jobs = rows.JobsOf(*node, answer.start, answer.until);
    const auto jobs_total = static_cast<int64_t>(jobs.size());
    if (jobs.size() > kMostTimelineJobs) jobs.resize(kMostTimelineJobs);
    answer.nodes.push_back({node->name,
                            std::string(NameOf(UseOf(*node, kept.contains(node->name)))), label.id,
                            label.name, TotalGpus(node->gpus), std::move(jobs), jobs_total});
  }
  if (past != nullptr) answer.known_since = past->known_since();
  answer.total = static_cast<int64_t>(matching.nodes.size());
  answer.offset = static_cast<int64_t>(filter.offset);
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
