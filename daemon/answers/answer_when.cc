// POST /v1/when: the start of any job, asked with sbatch's own words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/api/when.h"
#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/forecast/limit_advice.h"
#include "common/gpu/gpu_pool.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/insertion.h"
#include "common/slurm/gres.h"
#include "daemon/answers/advice_json.h"
#include "daemon/answers/answers.h"
#include "daemon/answers/job_json.h"
#include "daemon/answers/job_query.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

constexpr size_t kMaxJobs = 64;
constexpr size_t kMaxArrays = 8;  // each is a queue of its own
constexpr size_t kMaxCurves = 8;  // each asks up to kMaxLimits questions

std::string DefaultPartitionName(const Snapshot& snapshot) {
  for (const Partition& partition : snapshot.partitions) {
    if (partition.is_default) return partition.name;
  }
  return snapshot.partitions.empty() ? "" : snapshot.partitions.front().name;
}

constexpr double kSoonSeconds = 30;  // a start until then is one now

std::vector<std::string> WaitReasons(const StartSamples& start) {
  if (start.Quantile(.9) < kSoonSeconds) return {"fits now"};
  if (start.jobs_before == 0) return {"waits for running jobs or a reservation to end"};
  return {fmt::format("waits for running jobs to end and for {} before it",
                      Plural(start.jobs_before, "waiting job"))};
}

std::vector<std::string> ReasonsOf(const StartSamples& start) {
  std::vector<std::string> reasons = WaitReasons(start);
  if (const std::string risk = DescribePreemption(start); !risk.empty()) reasons.push_back(risk);
  return reasons;
}

api::ErrorEntry EntryOf(const Error& error) {
  static const std::map<ErrorCode, const char*> kNames = {
      {ErrorCode::kBadInput, "bad_input"},    {ErrorCode::kNotFound, "not_found"},
      {ErrorCode::kInfeasible, "infeasible"}, {ErrorCode::kUnavailable, "unavailable"},
      {ErrorCode::kStale, "stale"},           {ErrorCode::kInternal, "internal"}};
  return {kNames.at(error.code), error.message, error.pointer};
}

std::optional<int64_t> WaitOf(const Result<StartSamples>& at_limits) {
  if (!at_limits) return {};
  return at_limits->wait_seconds.front();
}

api::JobStart JobStartOf(const JobRequest& request, const StartSamples& start,
                         const Result<StartSamples>& by_time_limit, UnixSeconds now) {
  api::JobStart job;
  job.partition = start.partition;
  job.gres = ToGresText(request.gpus_per_node);
  if (job.gres.empty()) job.gpus_total = ToGresText(request.gpus_total);
  job.nodes = request.nodes_min;
  const SlurmNumber limit = request.time_limit_seconds;
  if (limit.has_value()) job.time_limit_seconds = limit.value();
  job.priority = start.priority;
  job.jobs_before = start.jobs_before;
  job.reasons = ReasonsOf(start);
  job.doubts = start.doubts;
  job.start = StartFiguresOf(start, now);
  job.wait_at_limits_seconds = WaitOf(by_time_limit);
  job.lost_mean_seconds = std::llround(start.MeanLost());
  return job;
}

// The start of the last task.
Result<api::LastTask> LastTaskOf(const JobQuery& asked, const AdviceContext& context) {
  const Result<ArrayStarts> starts =
      StartOfArray(context.queue, asked.request, asked.array, asked.submitter, context.Samples());
  if (!starts) return tl::unexpected<Error>(starts.error());
  api::LastTask last;
  last.tasks = asked.array.tasks;
  last.tasks_played = starts->tasks_played;
  if (asked.array.throttle > 0) last.throttle = asked.array.throttle;
  last.later_than_played = starts->last_is_later;
  last.start = StartFiguresOf(starts->last, context.snapshot.taken_at);
  if (context.BudgetSpent()) return context.BudgetError();
  const Result<ArrayStarts> at_limits =
      StartOfArray(context.by_time_limit, asked.request, asked.array, asked.submitter);
  if (at_limits) last.wait_at_limits_seconds = WaitOf(at_limits->last);
  return last;
}

// What is known of how long the asked job would run.
RunRisk RiskOf(const JobQuery& asked, const AdviceContext& context) {
  const ForecastHistory* past = PastBehind(context.queue);
  JobRecord record = RecordFor(context.queue, asked.request, asked.submitter);
  record.name = asked.name;
  return RiskFromHistory(past == nullptr ? nullptr : &past->run_times, record);
}

// The jobs of a request, in its order.
Result<std::vector<JobQuery>> ReadJobs(const std::vector<const json*>& items,
                                       const AdviceContext& context, const Submitter& caller) {
  const std::vector<GpuPool>& pools = context.Pools();
  const std::string standard = DefaultPartitionName(context.snapshot);
  std::vector<JobQuery> jobs;
  size_t arrays = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (context.BudgetSpent()) return context.BudgetError();
    Result<JobQuery> asked =
        ReadJobQuery(*items[i], fmt::format("/jobs/{}", i), context, pools, caller, standard);
    if (!asked) return tl::unexpected<Error>(asked.error());
    arrays += asked->array.tasks > 1 ? 1 : 0;
    if (arrays > kMaxArrays) {
      return BadInput(fmt::format("at most {} job arrays can be asked about at once", kMaxArrays),
                      fmt::format("/jobs/{}/array_tasks", i));
    }
    jobs.push_back(*std::move(asked));
  }
  return jobs;
}

struct JobStarts {
  Result<StartSamples> start;
  Result<StartSamples> at_limits;
};

// The starts do not depend on each other: several threads work on them.
Result<std::vector<JobStarts>> StartsOf(const std::vector<JobQuery>& jobs,
                                        const AdviceContext& context) {
  std::vector<JobStarts> starts(jobs.size());
  context.for_each(jobs.size(), [&](size_t i) {
    starts[i].start = StartOf(context.queue, jobs[i].request, jobs[i].submitter, context.Samples());
    if (starts[i].start) {
      starts[i].at_limits = StartOf(context.by_time_limit, jobs[i].request, jobs[i].submitter);
    }
  });
  if (context.Stopped()) return context.BudgetError();
  return starts;
}

// What is asked of every job beside its start.
struct WhenWishes {
  bool limits = false;   // what shorter time limits are worth
  bool cheaper = false;  // what would start it earlier
};

// The GPU types on which a job that names none would start now, by asking for each.
std::vector<std::string> TypesThatFitNow(const JobRequest& request, const AdviceContext& context,
                                         const AskStart& ask) {
  const bool of_node = request.gpus_per_node.size() == 1;
  const GpuCounts& gpus = of_node ? request.gpus_per_node : request.gpus_total;
  if (gpus.size() != 1 || !gpus[0].type.empty()) return {};
  std::vector<std::string> names;
  for (const GpuPool& pool : context.Pools()) {
    if (pool.gres_type.empty() || IsOneOf(pool.Name(), names)) continue;
    JobRequest typed = request;
    (of_node ? typed.gpus_per_node : typed.gpus_total)[0].type = pool.gres_type;
    const Result<StartSamples> start = ask(typed);
    if (start && start->Quantile(.9) < kSoonSeconds) names.push_back(pool.Name());
  }
  return names;
}

Result<api::StartAnswer> JobAnswer(const JobQuery& asked, const JobStarts& starts,
                                   const WhenWishes& wishes, const AdviceContext& context) {
  api::StartAnswer answer;
  if (!starts.start) {
    answer.error = EntryOf(starts.start.error());
    return answer;
  }
  const StartSamples& start = *starts.start;
  const UnixSeconds now = context.snapshot.taken_at;
  answer.job = JobStartOf(asked.request, start, starts.at_limits, now);
  answer.job->doubts.insert(answer.job->doubts.begin(), asked.doubts.begin(), asked.doubts.end());
  if (asked.array.tasks > 1) {
    Result<api::LastTask> last = LastTaskOf(asked, context);
    if (!last) return tl::unexpected<Error>(last.error());
    answer.array = *std::move(last);
  }
  const auto ask_as = [&](const JobRequest& other, const Submitter& who) -> Result<StartSamples> {
    if (!context.HasRoomForExtras()) return context.BudgetError();
    return StartOf(context.queue, other, who);
  };
  const AskStart ask = [&](const JobRequest& other) { return ask_as(other, asked.submitter); };
  if (!wishes.cheaper && !wishes.limits) return answer;
  if (wishes.cheaper && start.Quantile(.9) < kSoonSeconds) {
    const std::vector<std::string> names = TypesThatFitNow(asked.request, context, ask);
    if (!names.empty()) answer.job->reasons[0] += " on " + JoinNames(names);
  }
  const RunRisk risk = RiskOf(asked, context);
  if (wishes.cheaper) {
    answer.job->cheaper = EarlierStartsOf(
        RemediesFor({asked.request, start, ask, std::nullopt, &risk}, context), now);
  }
  if (wishes.limits) {
    LimitQuestion question{context.snapshot,      asked.request, start, ask, risk,
                           asked.time_min_seconds};
    question.submitter = &asked.submitter;
    question.ask_as = ask_as;
    const LimitAdvice advice = AdviseLimit(question);
    answer.limits = LimitChoicesOf(advice, now);
    answer.limit_advice = LimitAdviceOf(advice);
  }
  return answer;
}

}  // namespace

Result<json> AnswerWhen(const json& body, const AdviceContext& context, const Submitter& caller) {
  DocumentErrors errors;
  FieldReader reader(body, "", &errors);
  const std::vector<const json*> items = reader.List("jobs");
  const WhenWishes wishes{reader.Bool("limits").value_or(false),
                          reader.Bool("cheaper").value_or(true)};
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  if (items.empty() || items.size() > kMaxJobs) {
    return BadInput(fmt::format("jobs must list 1 to {} jobs, not {}", kMaxJobs, items.size()),
                    "/jobs");
  }
  if (wishes.limits && items.size() > kMaxCurves) {
    return BadInput(fmt::format("limits can be asked of at most {} jobs at once, not of {}",
                                kMaxCurves, items.size()),
                    "/limits");
  }
  const Result<std::vector<JobQuery>> jobs = ReadJobs(items, context, caller);
  if (!jobs) return tl::unexpected<Error>(jobs.error());
  const Result<std::vector<JobStarts>> starts = StartsOf(*jobs, context);
  if (!starts) return tl::unexpected<Error>(starts.error());
  api::Starts answer;
  size_t samples = 0;
  for (size_t i = 0; i < jobs->size(); ++i) {
    // What a single job's start took is spent: it is answered.
    if (i > 0 && context.BudgetSpent()) return context.BudgetError();
    Result<api::StartAnswer> one = JobAnswer((*jobs)[i], (*starts)[i], wishes, context);
    if (!one) return tl::unexpected<Error>(one.error());
    if ((*starts)[i].start) samples = std::max(samples, (*starts)[i].start->wait_seconds.size());
    answer.answers.push_back(*std::move(one));
  }
  answer.forecast = ForecastNote(samples, PastBehind(context.queue));
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
