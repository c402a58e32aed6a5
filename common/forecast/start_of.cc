// StartOf: a question about a job that has not been submitted.
//
// Problem. The wait is half of the answer. It differs by request, partition, account and QOS,
// because each has another place in the queue and other nodes.
//
// Idea. The request becomes one more pending job. For each partition it names: may it run there
// (access, per-job limits, suitable nodes), and at which place in the queue (priority as Slurm
// computes it, the partition's tier)? Then the scheduler is simulated, once per sample of all run
// times (simulation.cc), and the result is pooled with learned waits (wait_learner.cc).
//
// Why not ask Slurm. `sbatch --test-only` ignores pending jobs, takes slurmctld's write locks, uses
// up a job id per question and answers for the calling user only.
//
// Cost. 20 to 200 µs per sample for a queue of the sample cluster. See bench/performance.md.
//
// Limits. Without history every job runs to its limit and there is one sample, so p10 = p50 = p90.
// docs/forecast.md reports the accuracy with history.
#include "common/forecast/start_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include "common/base/statistics.h"
#include "common/base/words.h"
#include "common/forecast/bounded_waits.h"
#include "common/forecast/doubts.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/insertion.h"
#include "common/scheduler/plan_now.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/queue_trajectories.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise {
namespace {

// With limits, a longer queue is planned once instead of simulated: backfill's first plan, without
// later effects of throttles and usage limits.
constexpr size_t kPlannedQueue = 2'000;

// Free share of the GPUs on suitable nodes (CPUs if it wants no GPUs).
double FreeShare(const QueueModel& queue, const PendingJob& job) {
  int64_t free_gpus = 0;
  int64_t gpus = 0;
  int64_t free_cpus = 0;
  int64_t cpus = 0;
  for (const GroupDemand& demand : job.options.front().requirements->demands) {
    const auto group = static_cast<size_t>(demand.group);
    free_gpus += queue.free_now()[group].TotalGpus();
    gpus += queue.groups().groups()[group].capacity.TotalGpus();
    free_cpus += queue.free_now()[group].cpus;
    cpus += queue.groups().groups()[group].capacity.cpus;
  }
  if (gpus > 0) return static_cast<double>(free_gpus) / static_cast<double>(gpus);
  return cpus > 0 ? static_cast<double>(free_cpus) / static_cast<double>(cpus) : 0;
}

std::vector<std::string> NodesOf(const QueueModel& queue, const PendingJob& job,
                                 const SimulatedStart& start) {
  std::vector<std::string> names;
  const GroupRequirements& requirements =
      *job.options[static_cast<size_t>(start.option)].requirements;
  for (const GroupAllocation& allocation : start.nodes) {
    const GroupDemand& demand = requirements.demands[static_cast<size_t>(allocation.demand)];
    const NodeGroup& group = queue.groups().groups()[static_cast<size_t>(demand.group)];
    if (group.pooled()) continue;  // one of many equal nodes
    names.push_back(queue.pool().nodes()[static_cast<size_t>(group.nodes.front())].name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Samples without a start lie at the horizon; no waits if none starts. `first`: the first sample.
StartSamples Play(const QueueModel& queue, const PendingJob& job, size_t most_samples,
                  SimulatedStart& first) {
  const auto all = static_cast<size_t>(queue.by_time_limit() ? 1 : queue.options().samples);
  const auto samples = static_cast<int>(std::min(all, most_samples));
  StartSamples played;
  std::vector<int64_t>& waits = played.wait_seconds;
  const bool may_lose = MayLose(queue, job);
  bool any = false;
  std::vector<SimulatedStart> starts = SimulateSamples(queue, job, samples);
  for (const SimulatedStart& start : starts) {
    any = any || start.start < kNever;
    waits.push_back(std::min(start.start, queue.options().horizon_seconds));
    if (may_lose) played.lost_seconds.push_back(start.lost_seconds);
  }
  first = std::move(starts.front());
  if (!any) return {};
  played.simulated_wait_seconds = waits;
  std::sort(waits.begin(), waits.end());
  std::sort(played.lost_seconds.begin(), played.lost_seconds.end());
  return played;
}

// For a long queue at the limits: planned instead of simulated.
StartSamples PlanOnce(const QueueModel& queue, const PendingJob& job, SimulatedStart& first) {
  first = queue.played() != nullptr ? queue.played()->Plan(job, Durations::kLimits)
                                    : PlanNow(queue, job, Durations::kLimits);
  StartSamples planned;
  if (first.start < kNever) planned.wait_seconds = planned.simulated_wait_seconds = {first.start};
  return planned;
}

// Inserts the job into the trajectories simulated for all questions.
StartSamples PutIn(const QueueModel& queue, const PendingJob& job, size_t most_samples) {
  StartSamples put;
  bool any = false;
  for (const int64_t start : queue.played()->StartsOf(job, most_samples)) {
    any = any || start < kNever;
    put.wait_seconds.push_back(std::min(start, queue.options().horizon_seconds));
  }
  if (!any) return {};
  put.simulated_wait_seconds = put.wait_seconds;
  std::sort(put.wait_seconds.begin(), put.wait_seconds.end());
  return put;
}

StartSamples FindStarts(const QueueModel& queue, const PendingJob& job, size_t most_samples,
                        SimulatedStart& first) {
  if (queue.by_time_limit() && queue.pending().size() > kPlannedQueue) {
    return PlanOnce(queue, job, first);
  }
  if (!queue.by_time_limit() && queue.played() != nullptr && queue.played()->Takes(job)) {
    return PutIn(queue, job, most_samples);
  }
  return Play(queue, job, most_samples, first);
}

}  // namespace

double StartSamples::Quantile(double q) const { return InterpolatedQuantile(wait_seconds, q); }

double StartSamples::Mean() const {
  assert(!wait_seconds.empty());
  return std::accumulate(wait_seconds.begin(), wait_seconds.end(), 0.0) /
         static_cast<double>(wait_seconds.size());
}

double StartSamples::MeanLost() const {
  if (lost_seconds.empty()) return 0;
  return std::accumulate(lost_seconds.begin(), lost_seconds.end(), 0.0) /
         static_cast<double>(lost_seconds.size());
}

std::string DescribePreemption(const StartSamples& start) {
  const auto all = static_cast<double>(start.lost_seconds.size());
  if (all == 0) return "";
  const auto hit = std::count_if(start.lost_seconds.begin(), start.lost_seconds.end(),
                                 [](int64_t lost) { return lost > 0; });
  if (hit == 0) return "may be preempted, though no such job is pending";
  return fmt::format("preempted in {:.0f} % of cases: {} more on average",
                     100 * static_cast<double>(hit) / all, DurationInWords(start.MeanLost()));
}

namespace {

// Settles a new model. Simulates a long queue once, for all questions.
std::shared_ptr<const QueueModel> Finish(std::shared_ptr<QueueModel> queue) {
  const ForecastHistory* past = queue->past();
  const SimulationOptions& options = queue->options();
  queue->Settle(past == nullptr ? nullptr : &past->held);
  if (options.simulate_once_from > 0 && queue->pending().size() > options.simulate_once_from) {
    queue->SetTrajectories(std::make_shared<const QueueTrajectories>(*queue));
  }
  return queue;
}

void TellWhoRuns(const Snapshot& snapshot, ForecastHistory& past) {
  std::vector<JobRecord> running;
  for (const Job& job : snapshot.jobs) {
    if (HoldsNodes(job)) running.push_back(RecordOf(job));
  }
  past.run_times.SetRunning(running, snapshot.taken_at);
  past.arrivals.AskRunTimes(past.run_times);
}

void TellWhoIsPassedOver(const QueueModel& queue, ForecastHistory& past) {
  past.held.Seen(StartableNow(queue, past.held), queue.snapshot().taken_at);
}

}  // namespace

std::shared_ptr<const QueueModel> PrepareQueue(const Snapshot& snapshot) {
  return PrepareQueue(std::make_shared<const Snapshot>(snapshot));
}

std::shared_ptr<const QueueModel> PrepareQueue(std::shared_ptr<const Snapshot> snapshot) {
  SimulationOptions options;
  options.horizon_seconds = kNever - 1;
  options.simulate_once_from = kPlannedQueue;
  return Finish(std::make_shared<QueueModel>(std::move(snapshot), nullptr, options));
}

std::shared_ptr<const QueueModel> PrepareQueue(std::shared_ptr<const Snapshot> snapshot,
                                               const ForecastHistory& past,
                                               const SimulationOptions& options) {
  return Finish(std::make_shared<QueueModel>(std::move(snapshot), &past, options));
}

void Observe(const QueueModel& queue, ForecastHistory& past) {
  TellWhoRuns(queue.snapshot(), past);
  TellWhoIsPassedOver(queue, past);
}

std::shared_ptr<const QueueModel> ObserveAndPrepare(std::shared_ptr<const Snapshot> snapshot,
                                                    ForecastHistory& past,
                                                    const SimulationOptions& options) {
  TellWhoRuns(*snapshot, past);
  auto queue = std::make_shared<QueueModel>(std::move(snapshot), &past, options);
  TellWhoIsPassedOver(*queue, past);
  return Finish(std::move(queue));
}

const ForecastHistory* PastBehind(const QueueModel& queue) { return queue.past(); }

namespace {

// Simulates `of`, which stands for `request` by `submitter`.
Result<SimulatedSubmission> Simulate(const QueueModel& queue, const PendingJob& of,
                                     const JobRequest& request, const Submitter& submitter,
                                     size_t most_samples = kAllSamples) {
  const PendingJob* job = &of;
  SimulatedSubmission simulated;
  SimulatedStart first;
  simulated.samples = FindStarts(queue, *job, most_samples, first);
  if (simulated.samples.wait_seconds.empty()) return NeverFreeError(queue, *job);
  SimulatedWait& wait = simulated.wait;
  const CompetingJobs rivals = queue.rivals().Of(*job);
  wait.jobs_competing = rivals.competing;
  wait.jobs_before = rivals.before;
  wait.held_jobs = rivals.held;
  simulated.samples.priority = job->rank.priority;
  simulated.samples.jobs_before = wait.jobs_before;
  const auto partition =
      static_cast<size_t>(job->options[static_cast<size_t>(first.option)].partition);
  simulated.samples.partition = queue.snapshot().partitions[partition].name;
  simulated.samples.nodes = NodesOf(queue, *job, first);
  simulated.samples.doubts = FindDoubts(queue, request, *job, first);
  if (queue.by_time_limit()) return simulated;
  const auto horizon = static_cast<double>(queue.options().horizon_seconds);
  const auto planned = [&](Durations durations) {
    const SimulatedStart plan = queue.played() != nullptr ? queue.played()->Plan(*job, durations)
                                                          : PlanNow(queue, *job, durations);
    return std::min(static_cast<double>(plan.start), horizon);
  };
  wait.simulation = WaitDistribution::OfSamples(
      {simulated.samples.wait_seconds.begin(), simulated.samples.wait_seconds.end()});
  wait.earliest_seconds = EarliestSeconds(queue, PlanOfEmptyNodes(queue), *job);
  wait.plan_limits_seconds = planned(Durations::kLimits);
  wait.plan_last_two_seconds = planned(Durations::kLastTwo);
  wait.free_now = IsFreeNow(queue, *job);
  wait.held = job->held;
  wait.free_share = FreeShare(queue, *job);
  simulated.record = RecordFor(queue, request, submitter);
  simulated.job = *job;
  return simulated;
}

}  // namespace

Result<SimulatedSubmission> SimulateStart(const QueueModel& queue, const JobRequest& request,
                                          const Submitter& submitter, size_t most_samples) {
  const auto job = MakePendingJob(queue, request, submitter);
  if (!job) return tl::unexpected(job.error());
  return Simulate(queue, *job, request, submitter, most_samples);
}

std::optional<CausedDelay> DelayOf(const QueueModel& queue, const JobRequest& request,
                                   const Submitter& submitter, double run_seconds,
                                   size_t most_samples) {
  if (queue.by_time_limit() || queue.played() != nullptr) return {};
  const auto job = MakePendingJob(queue, request, submitter);
  if (!job) return {};
  const auto samples = std::min({static_cast<size_t>(kDelaySamples), most_samples,
                                 static_cast<size_t>(queue.options().samples)});
  return SimulateDelay(queue, *job, run_seconds, static_cast<int>(samples));
}

Result<StartSamples> StartOfWaiting(const QueueModel& queue, const Job& job,
                                    const JobRequest& request) {
  const auto same = std::find_if(queue.pending().begin(), queue.pending().end(),
                                 [&](const PendingJob& each) { return each.id == job.id; });
  if (same == queue.pending().end()) {
    return Fail(ErrorCode::kInfeasible,
                fmt::format("job {} does not compete for nodes now", job.id));
  }
  const Submitter submitter{job.uid, job.user, job.account, job.qos};
  PendingJob one = *same;
  if (!(request == job.request)) {
    auto other = MakePendingJob(queue, request, submitter);
    if (!other) return tl::unexpected(other.error());
    other->rank = same->rank;
    other->after = same->after;
    other->held = same->held;
    if (same->throttle >= 0) {
      other->throttle = same->throttle;
      other->caps.push_back({same->throttle, 1});
    }
    one = std::move(*other);
  }
  one.task = 0;
  one.replaces_job = job.id;
  auto simulated = Simulate(queue, one, request, submitter);
  if (!simulated) return tl::unexpected(simulated.error());
  StartSamples samples = std::move(simulated->samples);
  if (queue.by_time_limit()) return samples;
  const UnixSeconds now = queue.snapshot().taken_at;
  const auto known = request == job.request ? std::optional(job.id) : std::nullopt;
  samples.wait_seconds =
      BoundedWaits(queue, one, queue.past()->waits.ForecastWaiting(known, now, simulated->wait),
                   simulated->wait);
  return samples;
}

StartSamples StartFrom(const QueueModel& queue, SimulatedSubmission simulated) {
  StartSamples samples = std::move(simulated.samples);
  // Waits are learned from jobs that may start when nodes are free: they say nothing of what else
  // must end first.
  const bool may_start = simulated.job.after.empty() && IsWithinLimits(queue, simulated.job);
  if (queue.by_time_limit() || !may_start) return samples;
  auto forecast = std::make_shared<const WaitForecast>(
      queue.past()->waits.Forecast(queue.crowds(), simulated.record, simulated.wait));
  samples.wait_seconds = BoundedWaits(queue, simulated.job, forecast->wait, simulated.wait);
  samples.forecast = std::move(forecast);
  return samples;
}

Result<StartSamples> StartOf(const QueueModel& queue, const JobRequest& request,
                             const Submitter& submitter, size_t most_samples) {
  auto simulated = SimulateStart(queue, request, submitter, most_samples);
  if (!simulated) return tl::unexpected(simulated.error());
  return StartFrom(queue, std::move(*simulated));
}

}  // namespace gpuadvise
