// GET /v1/jobs/{id}: why a job waits, when it will start, and what would make it start earlier.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/advice_json.h"
#include "common/answer_jobs.h"
#include "common/cheaper_start.h"
#include "common/node_pool.h"
#include "common/pending_reason.h"
#include "common/policy.h"
#include "common/priority.h"
#include "common/why_pending.h"
#include "common/words.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

const Job* FindJob(const Snapshot& snapshot, const Seen& seen, int64_t id) {
  for (const Job& job : snapshot.jobs) {
    if (job.id == id && seen.SeesOneOf(job.request.partitions)) return &job;
  }
  for (const Job& job : snapshot.jobs) {  // an array or a het job by its first number
    const bool part = job.array_job_id == id || job.het_job_id == id;
    if (part && seen.SeesOneOf(job.request.partitions)) return &job;
  }
  return nullptr;
}

// Limits, other jobs, reservations and nodes by name are for who may see whose job it is.
json WhyJson(const Job& job, const QueueModel& queue, const StartSamples* start, bool whose) {
  json list = json::array();
  if (!whose) {
    const ReasonInWords reason = PendingReasonInWords(job.reason);
    list.push_back({{"words", reason.meaning}, {"clears", reason.clears}});
    return list;
  }
  for (const WhyPending& why : WhyItWaits(job, queue, start)) {
    list.push_back({{"words", why.words}, {"clears", why.clears}});
  }
  return list;
}

json PriorityJson(const Job& job, const ClusterView& view) {
  if (view.snapshot.config.priority_type != "priority/multifactor" ||
      job.request.partitions.empty()) {
    return nullptr;
  }
  const Partition* partition = FindPartition(view.snapshot, job.request.partitions.front());
  if (partition == nullptr) return nullptr;
  const PriorityFactors at_submission = PredictPriority(view.snapshot, job.request, *partition,
                                                        {job.uid, job.user, job.account, job.qos});
  return {{"total", job.priority},
          {"age", std::max<int64_t>(job.priority - at_submission.total, 0)},
          {"association", at_submission.association},
          {"fair_share", at_submission.fair_share},
          {"job_size", at_submission.job_size},
          {"partition", at_submission.partition},
          {"qos", at_submission.qos},
          {"tres", at_submission.tres},
          {"nice", job.nice}};
}

json CheaperJson(const std::vector<CheaperStart>& found, const StartSamples& as_it_is,
                 UnixSeconds now) {
  json list = json::array();
  for (const CheaperStart& one : found) {
    json row = {{"change", one.change}, {"words", InWords(one, as_it_is)}};
    AddStart(one.start, now, row);
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace

json CheaperOf(const JobRequest& request, const StartSamples& as_it_is, const ClusterView& view,
               const AskStart& ask) {
  return CheaperJson(CheaperStarts(view.snapshot, request, as_it_is, ask), as_it_is,
                     view.snapshot.taken_at);
}

Result<json> AnswerJob(int64_t id, const ClusterView& view, const Submitter& caller) {
  const Seen seen(view.snapshot, caller);
  const Job* job = FindJob(view.snapshot, seen, id);
  if (job == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("there is no job {} that waits or runs; sacct -j {} knows those that "
                            "have ended",
                            id, id));
  }
  GpuLabels gpus(view.snapshot, view.gpus);
  const JobEnds ends(view.queue, {job->id});
  const JobLookups lookups{gpus, seen, ends};
  if (HoldsNodes(*job)) {
    json answer = JobJson(*job, nullptr, view, caller, lookups);
    answer["why"] = json::array();
    answer["cheaper"] = json::array();
    return answer;
  }
  const Result<StartSamples> start = StartOfWaiting(view.queue, *job, job->request);
  json answer = JobJson(*job, start ? &*start : nullptr, view, caller, lookups);
  const bool whose = MaySee(view.snapshot, *job, caller);
  answer["why"] = WhyJson(*job, view.queue, start ? &*start : nullptr, whose);
  answer["priority_factors"] = whose ? PriorityJson(*job, view) : json();
  answer["cheaper"] = json::array();
  if (start) {
    const auto ask = [&](const JobRequest& request) {
      return StartOfWaiting(view.queue, *job, request);
    };
    answer["cheaper"] = CheaperOf(job->request, *start, view, ask);
  }
  answer["forecast"] = ForecastNote(start ? start->wait_seconds.size() : 0, PastBehind(view.queue));
  return answer;
}

}  // namespace gpuadvise
