#include "daemon/answers/job_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/json_fields.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/forecast/why_pending.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/pending_reason.h"
#include "common/slurm/policy.h"
#include "common/slurm/priority.h"
#include "common/slurm/snapshot_json.h"
#include "daemon/answers/advice_json.h"
#include "daemon/answers/answers.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

std::string GresOf(const Job& job) {
  if (!job.request.gpus_per_node.empty()) return ToGresText(job.request.gpus_per_node);
  return ToGresText(job.request.gpus_total);
}

// The part of a row that only a job that runs has.
void AddEnd(const Job& job, const JobLookups& lookups, json& row) {
  const auto end = lookups.ends.EndOf(job.id);
  row["start_time"] = OrNull(job.start_time);
  row["end_time"] = OrNull(job.end_time);
  row["end_p50"] = end ? json(end->p50) : json();
  row["end_p90"] = end ? json(end->p90) : json();
}

const Job* FindJob(const Snapshot& snapshot, const Visibility& seen, int64_t id) {
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

json PriorityJson(const Job& job, const AdviceContext& context) {
  if (context.snapshot.config.priority_type != "priority/multifactor" ||
      job.request.partitions.empty()) {
    return nullptr;
  }
  const Partition* partition = FindPartition(context.snapshot, job.request.partitions.front());
  if (partition == nullptr) return nullptr;
  const PriorityFactors at_submission = PredictPriority(context.snapshot, job.request, *partition,
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

// What the job was advised as; nullopt where it was not, or too little of that is kept.
std::optional<AdvisedJob> AdvisedAs(const Job& job, const AdviceContext& context,
                                    const FindExperiment& find) {
  if (!find) return std::nullopt;
  std::optional<Experiment> experiment = find(job.id, job.uid);
  if (!experiment && job.array_job_id > 0) experiment = find(job.array_job_id, job.uid);
  if (!experiment || !experiment->request.is_object()) return std::nullopt;
  const Submitter owner{job.uid, job.user, job.account, job.qos};
  Result<AdviceRequest> advice = AdviceRequestOf(experiment->request, context, owner);
  const json& strategy = experiment->strategy;
  const double p50 = strategy.is_object() ? strategy.value("run_p50_seconds", 0.0) : 0;
  if (!advice || p50 <= 0) return std::nullopt;
  return AdvisedJob{std::move(*advice), owner, p50, strategy.value("run_p90_seconds", p50)};
}

// How long it will run; nullopt where nothing but its time limit says so.
std::optional<double> ExpectedRunTime(const Job& job, const JobEnds& ends) {
  const auto run_time = ends.RunTimeOf(job.id);
  if (!run_time || job.request.time_limit_seconds == SlurmNumber(*run_time)) return std::nullopt;
  return static_cast<double>(*run_time);
}

RunRisk RiskOfJob(const Job& job, const AdviceContext& context, bool whose) {
  const ForecastHistory* past = whose ? PastBehind(context.queue) : nullptr;
  return RiskFromHistory(past == nullptr ? nullptr : &past->run_times, RecordOf(job));
}

std::string UpdateCommand(const Job& job, const LimitPoint& best) {
  const std::string partitions =
      best.opens_partition ? " partition=" + Join(best.request.partitions, ",") : "";
  return fmt::format("scontrol update jobid={}{} timelimit={}", job.id, partitions,
                     FormatDuration(best.limit_seconds));
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

json JobJson(const Job& job, const StartSamples* start, const AdviceContext& context,
             const Submitter& caller, const JobLookups& lookups) {
  const GpuLabel& gpu = lookups.gpus.LabelOfJob(job);
  const bool seen = MaySee(context.snapshot, job, caller);
  json row = {{"job_id", job.id},
              {"array_tasks", job.array_tasks},
              {"array_task_count", job.array_task_count},
              {"name", seen ? json(job.name) : json()},
              {"user", seen ? json(job.user) : json()},
              {"account", seen ? json(job.account) : json()},
              {"qos", seen ? json(job.qos) : json()},
              {"partition", Join(lookups.seen.SeenOf(job.request.partitions), ",")},
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
              {"submit_time", OrNull(job.submit_time)}};
  if (HoldsNodes(job)) {
    AddEnd(job, lookups, row);
    return row;
  }
  const ReasonInWords reason = PendingReasonInWords(job.reason);
  row["reason"] = job.reason;
  row["reason_words"] = reason.meaning;
  row["clears"] = reason.clears;
  row["slurm_start"] = OrNull(job.start_time);
  const auto run_time = lookups.ends.RunTimeOf(job.id);
  row["run_p50_seconds"] = run_time ? json(*run_time) : json();
  row["jobs_before"] = start == nullptr ? json() : json(start->jobs_before);
  if (start != nullptr) {
    AddStart(*start, context.snapshot.taken_at, row);
  } else {
    row["wait_p50_seconds"] = nullptr;
  }
  return row;
}

void AddLimits(const LimitAdvice& advice, UnixSeconds now, const ChangeCommand& command,
               json& into) {
  json curve = json::array();
  for (const LimitPoint& point : advice.points) {
    json row = {{"time_limit_seconds", point.limit_seconds},
                {"options", point.options},
                {"sooner_p10_seconds", std::llround(point.sooner_low)},
                {"sooner_seconds", std::llround(point.sooner)},
                {"sooner_p90_seconds", std::llround(point.sooner_high)},
                {"risk", OrNull(point.risk)}};
    AddStart(point.start, now, row);
    curve.push_back(std::move(row));
  }
  json said = {
      {"words", advice.words}, {"time_min_words", advice.soft}, {"time_limit_seconds", nullptr}};
  if (advice.best) {
    const LimitPoint& best = advice.points[*advice.best];
    said["time_limit_seconds"] = best.limit_seconds;
    said["options"] = best.options;
    if (command) said["command"] = command(best);
  }
  into["limits"] = std::move(curve);
  into["limit_advice"] = std::move(said);
}

json RemediesJson(const std::vector<Remedy>& remedies, UnixSeconds now) {
  json list = json::array();
  for (const Remedy& one : remedies) {
    json row = {{"change", one.change}, {"words", one.words}};
    row["done_later_seconds"] = one.done_later ? json(std::llround(*one.done_later)) : json();
    AddStart(one.start, now, row);
    list.push_back(std::move(row));
  }
  return list;
}

// Why a job waits, when it will start, and what would make it start earlier.
Result<json> AnswerJob(int64_t id, const AdviceContext& context, const Submitter& caller,
                       const FindExperiment& find) {
  const Visibility seen(context.snapshot, caller);
  const Job* job = FindJob(context.snapshot, seen, id);
  if (job == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("there is no job {} that waits or runs; sacct -j {} knows those that "
                            "have ended",
                            id, id));
  }
  GpuLabels gpus(context.snapshot, context.gpus);
  const JobEnds ends(context.queue, {job->id});
  const JobLookups lookups{gpus, seen, ends};
  if (HoldsNodes(*job)) {
    json answer = JobJson(*job, nullptr, context, caller, lookups);
    answer["why"] = json::array();
    answer["cheaper"] = json::array();
    return answer;
  }
  const Result<StartSamples> start = StartOfWaiting(context.queue, *job, job->request);
  json answer = JobJson(*job, start ? &*start : nullptr, context, caller, lookups);
  const bool whose = MaySee(context.snapshot, *job, caller);
  answer["why"] = WhyJson(*job, context.queue, start ? &*start : nullptr, whose);
  answer["priority_factors"] = whose ? PriorityJson(*job, context) : json();
  answer["cheaper"] = json::array();
  if (start) {
    const AskStart ask = [&](const JobRequest& request) -> Result<StartSamples> {
      if (!context.HasRoomForExtras()) return context.BudgetError();
      return StartOfWaiting(context.queue, *job, request);
    };
    const auto advised = whose ? AdvisedAs(*job, context, find) : std::nullopt;
    const RunRisk risk = advised ? RiskOf(*advised) : RiskOfJob(*job, context, whose);
    const RemedyQuestion question{job->request, *start, ask, ExpectedRunTime(*job, ends), &risk};
    if (whose) {
      const LimitAdvice limits = AdviseLimit({context.snapshot, job->request, *start, ask, risk});
      AddLimits(
          limits, context.snapshot.taken_at,
          [&](const LimitPoint& best) { return UpdateCommand(*job, best); }, answer);
    }
    answer["cheaper"] = RemediesJson(
        advised ? RemediesFor(question, *advised, context) : RemediesFor(question, context),
        context.snapshot.taken_at);
    if (!context.HasRoomForExtras()) answer["warnings"] = {kNotAllRemedies};
  }
  answer["forecast"] =
      ForecastNote(start ? start->wait_seconds.size() : 0, PastBehind(context.queue));
  return answer;
}

}  // namespace gpuadvise::daemon
