#include "daemon/answers/job_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/json_fields.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/forecast/start_moves.h"
#include "common/forecast/why_pending.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/competing_jobs.h"
#include "common/scheduler/node_pool.h"
#include "common/scheduler/queue_model.h"
#include "common/slurm/gres.h"
#include "common/slurm/job_id.h"
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

const Job* FindJob(const Snapshot& snapshot, const Visibility& seen, const JobId& id) {
  const Job* found = nullptr;
  for (const Job& job : snapshot.jobs) {
    if (!IsOf(job, id) || !seen.SeesOneOf(job.request.partitions)) continue;
    if (job.id == id.id) return &job;
    if (found == nullptr) found = &job;  // of an array or a het job: the first
  }
  return found;
}

// Limits, other jobs, reservations and nodes by name are for who may see whose job it is.
std::vector<api::WhyPending> WhyOf(const Job& job, const QueueModel& queue,
                                   const StartSamples* start, bool whose) {
  if (!whose) {
    const ReasonExplanation reason = ExplainPendingReason(job.reason);
    return {{reason.meaning, reason.clears}};
  }
  std::vector<api::WhyPending> list;
  for (const WhyPending& why : ExplainWait(job, queue, start)) {
    list.push_back({why.words, why.clears});
  }
  return list;
}

std::optional<api::PriorityParts> PriorityOf(const Job& job, const AdviceContext& context) {
  if (context.snapshot.config.priority_type != "priority/multifactor" ||
      job.request.partitions.empty()) {
    return std::nullopt;
  }
  const Partition* partition = FindPartition(context.snapshot, job.request.partitions.front());
  if (partition == nullptr) return std::nullopt;
  const PriorityFactors at_submission = PredictPriority(context.snapshot, job.request, *partition,
                                                        {job.uid, job.user, job.account, job.qos});
  return api::PriorityParts{.total = job.priority,
                            .age = std::max<int64_t>(job.priority - at_submission.total, 0),
                            .association = at_submission.association,
                            .fair_share = at_submission.fair_share,
                            .job_size = at_submission.job_size,
                            .partition = at_submission.partition,
                            .qos = at_submission.qos,
                            .tres = at_submission.tres,
                            .nice = job.nice};
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

bool MaySeeJobsOf(int64_t uid, const Snapshot& snapshot, const Submitter& caller) {
  if (caller.uid < 0) return false;
  if (!HasFlag(snapshot.config.private_data, "jobs")) return true;
  return caller.uid == 0 || caller.uid == uid;
}

bool MaySee(const Snapshot& snapshot, const Job& job, const Submitter& caller) {
  return MaySeeJobsOf(job.uid, snapshot, caller);
}

api::StartFigures StartFiguresOf(const StartSamples& start, UnixSeconds now) {
  const auto wait = [&](double q) -> int64_t { return std::llround(start.Quantile(q)); };
  return {{wait(.1), wait(.5), wait(.9), std::llround(start.Mean())},
          now + wait(.1),
          now + wait(.5),
          now + wait(.9)};
}

api::QueueJob QueueRow(const Job& job, const StartSamples* start, const AdviceContext& context,
                       const Submitter& caller, const JobLookups& lookups) {
  const GpuLabel& gpu = lookups.gpus.FindJobLabel(job);
  api::QueueJob row;
  row.job_id = job.id;
  row.array_tasks = job.array_tasks;
  row.array_task_count = job.array_task_count;
  if (MaySee(context.snapshot, job, caller)) {
    row.name = job.name;
    row.user = job.user;
    row.account = job.account;
    row.qos = job.qos;
  }
  row.partition = Join(lookups.seen.SeenOf(job.request.partitions), ",");
  row.state = NameOf(job.state);
  row.gres = GresOf(job);
  row.gpu = gpu.id;
  row.gpu_name = gpu.name;
  row.gpus = GpusOfJob(job);
  row.nodes = job.request.nodes_min;
  const SlurmNumber& limit = job.request.time_limit_seconds;
  if (limit.has_value()) row.time_limit_seconds = limit.value();
  row.priority = job.priority;
  row.submit_time = job.submit_time;
  if (HoldsNodes(job)) {
    row.end.emplace();
    row.end->start_time = job.start_time;
    row.end->end_time = job.end_time;
    if (const auto end = lookups.ends.EndOf(job.id)) {
      row.end->end_p50 = end->p50;
      row.end->end_p90 = end->p90;
    }
    return row;
  }
  const ReasonExplanation reason = ExplainPendingReason(job.reason);
  row.wait.emplace();
  row.wait->reason = job.reason;
  row.wait->reason_words = reason.meaning;
  row.wait->clears = reason.clears;
  row.wait->slurm_start = job.start_time;
  row.wait->run_p50_seconds = lookups.ends.RunTimeOf(job.id);
  if (start != nullptr) {
    row.wait->jobs_before = start->jobs_before;
    row.wait->start = StartFiguresOf(*start, context.snapshot.taken_at);
  }
  return row;
}

std::vector<api::LimitChoice> LimitChoicesOf(const LimitAdvice& advice, UnixSeconds now) {
  std::vector<api::LimitChoice> curve;
  for (const LimitPoint& point : advice.points) {
    curve.push_back({.time_limit_seconds = point.limit_seconds,
                     .options = point.options,
                     .sooner_p10_seconds = std::llround(point.sooner_low),
                     .sooner_seconds = std::llround(point.sooner),
                     .sooner_p90_seconds = std::llround(point.sooner_high),
                     .risk = point.risk,
                     .start = StartFiguresOf(point.start, now)});
  }
  return curve;
}

api::LimitAdvice LimitAdviceOf(const LimitAdvice& advice) {
  api::LimitAdvice said;
  said.words = advice.words;
  said.time_min_words = advice.soft;
  if (advice.best) {
    said.time_limit_seconds = advice.points[*advice.best].limit_seconds;
    said.options = advice.points[*advice.best].options;
  }
  return said;
}

std::vector<api::EarlierStart> EarlierStartsOf(const std::vector<Remedy>& remedies,
                                               UnixSeconds now) {
  std::vector<api::EarlierStart> list;
  for (const Remedy& one : remedies) {
    api::EarlierStart& row = list.emplace_back();
    row.change = one.change;
    row.words = one.words;
    if (one.done_later) row.done_later_seconds = std::llround(*one.done_later);
    row.start = StartFiguresOf(one.start, now);
  }
  return list;
}

// Why a job waits, when it will start, and what would make it start earlier.
namespace {

constexpr size_t kMostShownOfId = 40;

constexpr size_t kMostJobsAhead = 10;

std::vector<api::JobAhead> JobsAhead(const Job& job, const AdviceContext& context,
                                     const Visibility& seen) {
  std::vector<api::JobAhead> rows;
  for (const int64_t id : JobsAheadOf(job.id, context.queue.pending(), kMostJobsAhead)) {
    const auto& jobs = context.snapshot.jobs;
    const auto one = std::lower_bound(jobs.begin(), jobs.end(), id,
                                      [](const Job& each, int64_t key) { return each.id < key; });
    if (one == jobs.end() || one->id != id || !seen.SeesOneOf(one->request.partitions)) continue;
    rows.push_back({id, GpusOfJob(*one), one->request.nodes_min, one->priority});
  }
  return rows;
}

// The parts of a heterogeneous job start together, when the last of them can.
Result<StartSamples> StartWithItsParts(const Job& job, const AdviceContext& context) {
  Result<StartSamples> start = StartOfWaiting(context.queue, job, job.request);
  if (!start || job.het_job_id == 0) return start;
  for (const Job& part : context.snapshot.jobs) {
    if (part.het_job_id != job.het_job_id || part.id == job.id || HoldsNodes(part)) continue;
    const Result<StartSamples> other = StartOfWaiting(context.queue, part, part.request);
    if (!other) return other;
    const size_t samples = std::min(start->wait_seconds.size(), other->wait_seconds.size());
    for (size_t i = 0; i < samples; ++i) {
      start->wait_seconds[i] = std::max(start->wait_seconds[i], other->wait_seconds[i]);
    }
    start->jobs_before = std::max(start->jobs_before, other->jobs_before);
  }
  return start;
}

// A job that is newer than all that are known may have been submitted since the queue was read.
Error NoSuchJob(std::string_view text, const JobId& id, const Snapshot& snapshot) {
  const bool newer = std::all_of(snapshot.jobs.begin(), snapshot.jobs.end(),
                                 [&](const Job& job) { return job.id < id.id; });
  if (newer) {
    return {ErrorCode::kNotFound,
            fmt::format("there is no job {} in the queue as it was last read; if it was submitted "
                        "just now, ask again in half a minute",
                        text),
            ""};
  }
  return {ErrorCode::kNotFound,
          fmt::format("there is no job {} that waits or runs; of those that have ended "
                      "`gpuadvise jobs {}` shows yours, sacct -j {} any",
                      text, id.id, text),
          ""};
}

}  // namespace

Result<json> AnswerJob(std::string_view text, const AdviceContext& context, const Submitter& caller,
                       const FindExperiment& find) {
  const std::optional<JobId> id = ParseJobId(text);
  if (!id) {
    return BadInput(fmt::format("{} is no job id; write the number that squeue shows",
                                Quoted(std::string(text.substr(0, kMostShownOfId)))));
  }
  const Visibility seen(context.snapshot, caller);
  const Job* job = FindJob(context.snapshot, seen, *id);
  if (job == nullptr) return tl::unexpected<Error>(NoSuchJob(text, *id, context.snapshot));
  GpuLabels gpus(context.snapshot, context.gpus);
  const JobEnds ends(context.queue, {job->id});
  const JobLookups lookups{gpus, seen, ends};
  api::Job answer;
  if (HoldsNodes(*job)) {
    answer.row = QueueRow(*job, nullptr, context, caller, lookups);
    const bool hides_nodes = HasFlag(context.snapshot.config.private_data, "nodes");
    if (!hides_nodes || caller.uid == 0 || (caller.uid >= 0 && caller.uid == job->uid)) {
      for (const Allocation& allocation : job->allocations) {
        answer.on_nodes.push_back(allocation.node);
      }
    }
    return ToJson(answer);
  }
  const Result<StartSamples> known = StartWithItsParts(*job, context);
  const StartSamples* start = known ? &*known : nullptr;
  answer.row = QueueRow(*job, start, context, caller, lookups);
  const bool whose = MaySee(context.snapshot, *job, caller);
  answer.why = WhyOf(*job, context.queue, start, whose);
  api::JobOutlook& outlook = answer.outlook.emplace();
  outlook.forecast =
      ForecastNote(start != nullptr ? start->wait_seconds.size() : 0, PastBehind(context.queue));
  outlook.ahead = JobsAhead(*job, context, seen);
  if (whose) outlook.priority_factors = PriorityOf(*job, context);
  if (start == nullptr) return ToJson(answer);
  if (whose) {
    if (const auto move = FindStartMove(*job, context.queue, *start)) {
      outlook.moved = {move->said, move->now, move->because};
    }
  }
  const AskStart ask = [&](const JobRequest& request) -> Result<StartSamples> {
    if (!context.HasRoomForExtras()) return context.BudgetError();
    return StartOfWaiting(context.queue, *job, request);
  };
  const UnixSeconds now = context.snapshot.taken_at;
  const auto advised = whose ? AdvisedAs(*job, context, find) : std::nullopt;
  const RunRisk risk = advised ? RiskOf(*advised) : RiskOfJob(*job, context, whose);
  const RemedyQuestion question{job->request, *start, ask, ExpectedRunTime(*job, ends), &risk};
  if (whose) {
    const LimitAdvice limits = AdviseLimit({context.snapshot, job->request, *start, ask, risk});
    answer.limits = {LimitChoicesOf(limits, now), LimitAdviceOf(limits)};
    if (limits.best) {
      answer.limits->limit_advice.command = UpdateCommand(*job, limits.points[*limits.best]);
    }
  }
  // Other GPUs are no remedy for a job that waits for its time or for another job.
  const bool waits_for_gpus =
      job->dependency.empty() && job->request.begin_time.value_or(now) <= now;
  answer.cheaper =
      EarlierStartsOf(advised && waits_for_gpus ? RemediesFor(question, *advised, context)
                                                : RemediesFor(question, context),
                      now);
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
