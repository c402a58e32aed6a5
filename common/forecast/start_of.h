// When would this job start? The core function of the product:
//
//    StartOf(job request, caller, state as of t) -> samples of the start time
//
// All start times (advise, when, gpus, why, scoring, the back-test) come from it. The request
// enters the queue at its own predicted priority, with its own limit, account and QOS, not at the
// end.
//
// `QueueModel` is the state as of t, prepared once per snapshot and shared by all questions:
// immutable, safe from several threads. Times are unix seconds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/history/wait_forecast.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

// Equally likely start times of one job, ascending, in seconds from the snapshot's `taken_at`.
struct StartSamples {
  std::vector<int64_t> wait_seconds;  // never empty
  std::vector<int64_t>
      simulated_wait_seconds;         // the simulation's alone, by sample: questions to one
                                      // snapshot share their random numbers, sample by sample
  std::vector<int64_t> lost_seconds;  // by preemption; empty: not preemptible
  int64_t priority = 0;               // predicted at submission
  int64_t jobs_before = 0;            // pending jobs ranked above it that want some of its nodes
  std::string partition;              // where it would start first
  std::vector<std::string> doubts;    // unmodelled effects on this answer (doubts.h)
  std::vector<std::string> nodes;     // in the first sample (a forecast, not a promise)
  std::shared_ptr<const WaitForecast> forecast;  // pooled forecast; null without history

  // The q-quantile, 0 <= q <= 1, linearly interpolated between samples.
  double Quantile(double q) const;
  double Mean() const;

  // Mean time that preemption adds to the run time (requeue and repeated work).
  double MeanLost() const;
};

// "jobs that may preempt it take its nodes in 20 % of all cases: 1 h 10 more on average"; "" if not
// preemptible.
std::string DescribePreemption(const StartSamples& start);

// The simulation part of StartOf: heavy, pure, for any thread. The rest (learned waits) must see
// submissions in order of time.
struct SimulatedSubmission {
  SimulatedWait wait;
  StartSamples samples;  // by simulation only
  JobRecord record;
  PendingJob job;
};

// Prepares `snapshot` for questions in which every job runs to its limit (one sample).
std::shared_ptr<const QueueModel> PrepareQueue(const Snapshot& snapshot);
std::shared_ptr<const QueueModel> PrepareQueue(std::shared_ptr<const Snapshot> snapshot);

// With history, which must have observed the snapshot (Observe). REQUIRES: `past` outlives the
// model and is not written during questions.
std::shared_ptr<const QueueModel> PrepareQueue(std::shared_ptr<const Snapshot> snapshot,
                                               const ForecastHistory& past,
                                               const SimulationOptions& options = {});

// Records in `past` which jobs run, and which pending ones could start but are passed over.
// `queue`: the snapshot in any preparation.
void Observe(const QueueModel& queue, ForecastHistory& past);

// Both for an unprepared snapshot, at the cost of one model.
std::shared_ptr<const QueueModel> ObserveAndPrepare(std::shared_ptr<const Snapshot> snapshot,
                                                    ForecastHistory& past,
                                                    const SimulationOptions& options = {});

inline constexpr size_t kAllSamples = SIZE_MAX;
inline constexpr size_t kLeastSamples = 4;  // enough for a median and a rough spread

// The history behind `queue`; null: none, every job runs to its limit.
const ForecastHistory* PastBehind(const QueueModel& queue);

// Start samples of `request`, submitted by `submitter` at the time of the snapshot: as many as
// `queue` was prepared for, at most `most_samples`; cost is proportional.
//
// Errors: kInfeasible if no node set could ever run it (too many GPUs, over a partition limit,
// account or QOS not allowed); kNotFound for an unknown partition, reservation or node, with the
// existing names.
Result<StartSamples> StartOf(const QueueModel& queue, const JobRequest& request,
                             const Submitter& submitter, size_t most_samples = kAllSamples);

// Samples of a delay: both halves of each see the same future, so few are enough.
inline constexpr int kDelaySamples = 4;

// What `request`, running for `run_seconds`, costs the jobs of others (SimulateDelay()); nullopt
// where it cannot be told: every job runs to its limit, the queue is so long that it is simulated
// once for all questions, or the request cannot run.
std::optional<CausedDelay> DelayOf(const QueueModel& queue, const JobRequest& request,
                                   const Submitter& submitter, double run_seconds,
                                   size_t most_samples = kAllSamples);

// Start of the waiting `job` if it had asked for `request`, in its place in the queue. With its own
// request: the job's start, including what was learned about it.
//
// Errors: as StartOf; kInfeasible if the job does not compete (held, or a dependency never met).
Result<StartSamples> StartOfWaiting(const QueueModel& queue, const Job& job,
                                    const JobRequest& request);

// The two halves of StartOf, for simulating many submissions on several threads.
Result<SimulatedSubmission> SimulateStart(const QueueModel& queue, const JobRequest& request,
                                          const Submitter& submitter,
                                          size_t most_samples = kAllSamples);
StartSamples StartFrom(const QueueModel& queue, SimulatedSubmission simulated);

}  // namespace gpuadvise
