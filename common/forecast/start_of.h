// When would this job start? The one function that is the product:
//
//     StartOf(job request, caller, state as of t) -> samples of the start time
//
// Everything that says a start time (advise, when, gpus, and later why, scoring and the back-test)
// calls it and no other. The request is put into the queue at its own predicted priority, with its
// own limit, account and QOS; nothing assumes that it comes last.
//
// `QueueModel` is the state as of t, prepared once per snapshot and then shared by every question:
// immutable to its callers, safe to ask from several threads. Times are unix seconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/history/wait_forecast.h"
#include "common/scheduler/queue_model.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"

namespace gpuadvise {

// Equally likely start times of one job, ascending, in seconds from the snapshot's `taken_at`.
struct StartSamples {
  std::vector<int64_t> wait_seconds;    // never empty
  std::vector<int64_t> played_seconds;  // the simulation's alone, by sample: questions to one
                                        // snapshot share their random numbers, sample by sample
  std::vector<int64_t> lost_seconds;    // to those who may take its nodes; empty: nobody may
  int64_t priority = 0;                 // the priority the job would have at submission
  int64_t jobs_before = 0;              // pending jobs of higher rank that want some of its nodes
  std::string partition;                // the one it would start in first
  std::vector<std::string> doubts;      // what could move this answer and is not played (doubts.h)
  std::vector<std::string> nodes;  // where the first sample puts it (a forecast, not a promise)
  std::shared_ptr<const WaitForecast> forecast;  // what was pooled; null without a past

  // The q-quantile, 0 <= q <= 1, by linear interpolation between samples.
  double Quantile(double q) const;
  double Mean() const;

  // What being preempted adds to the run time on average, requeue and work done again.
  double MeanLost() const;
};

// "jobs that may preempt it take its nodes in 20 % of all cases: 1 h 10 more on average"; "" where
// nobody may.
std::string PreemptionInWords(const StartSamples& start);

// The part of StartOf that plays the scheduler forward: heavy, pure, for any thread. The rest of
// StartOf (what the past says about such waits) has to see submissions in the order of time.
struct SimulatedSubmission {
  SimulatedWait wait;
  StartSamples samples;  // of the simulation alone
  JobRecord record;
};

// Prepares `snapshot` for questions, where every job runs until its limit (one sample).
std::shared_ptr<const QueueModel> PrepareQueue(const Snapshot& snapshot);
std::shared_ptr<const QueueModel> PrepareQueue(std::shared_ptr<const Snapshot> snapshot);

// The same with what history knows, which has to have been told of the snapshot (Observe).
// REQUIRES: `past` outlives the model and is not written while questions are asked.
std::shared_ptr<const QueueModel> PrepareQueue(std::shared_ptr<const Snapshot> snapshot,
                                               const ForecastHistory& past,
                                               const SimulationOptions& options = {});

// Tells `past` what a snapshot shows: which jobs run now, and which pending ones could start and
// are passed over. `queue`: the snapshot, however prepared.
void Observe(const QueueModel& queue, ForecastHistory& past);

// Both for a snapshot that nobody has prepared yet, at the cost of one model.
std::shared_ptr<const QueueModel> ObserveAndPrepare(std::shared_ptr<const Snapshot> snapshot,
                                                    ForecastHistory& past,
                                                    const SimulationOptions& options = {});

// What `queue` was prepared with; null: nothing, every job runs until its limit.
const ForecastHistory* PastBehind(const QueueModel& queue);

// Samples of the start of `request`, submitted by `submitter` at the snapshot's time.
//
// Errors: kInfeasible with a sentence when no node set of the cluster could ever run it (too many
// GPUs, over the partition's limit, account or QOS not allowed), kNotFound for an unknown
// partition, reservation or node name, naming those that exist.
Result<StartSamples> StartOf(const QueueModel& queue, const JobRequest& request,
                             const Submitter& submitter);

// The start of `job`, which waits in the queue, if it asked for `request` instead, in its place in
// the queue; with its own request: of the job itself. What the past says counts for the latter.
//
// Errors: as StartOf; kInfeasible when the job does not compete (held, waits for what never
// comes).
Result<StartSamples> StartOfWaiting(const QueueModel& queue, const Job& job,
                                    const JobRequest& request);

// The two halves of StartOf, for callers that simulate many submissions on several threads.
Result<SimulatedSubmission> SimulateStart(const QueueModel& queue, const JobRequest& request,
                                          const Submitter& submitter);
StartSamples StartFrom(const QueueModel& queue, SimulatedSubmission simulated);

}  // namespace gpuadvise
