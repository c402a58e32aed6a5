// Simulates Slurm's scheduler from a QueueModel: when would the request start?
//
// See simulation.cc for the idea. Pure: the same model, request and sample give the same result on
// any thread. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/history/held_jobs.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulated_nodes.h"

namespace gpuadvise {

// Result of one sample.
struct SimulatedStart {
  int64_t start = kNever;  // kNever: not before the horizon, or never
  int32_t option = 0;      // index in the request's options
  std::vector<GroupAllocation> nodes;
  bool at_once = false;      // in the first pass, before any draw: the same in every sample
  int64_t lost_seconds = 0;  // preemption: time from start to end, minus its run time
};

// One sample of the start of `request`; its rank sets its place in the queue. `sample` seeds the
// random numbers: a job runs equally long in the same sample of every question.
SimulatedStart SimulateJob(const QueueModel& queue, const PendingJob& request, int sample);

// Samples 0 to `samples` - 1, cheaper than one by one.
std::vector<SimulatedStart> SimulateSamples(const QueueModel& queue, const PendingJob& request,
                                            int samples);

// What a request costs the jobs of others: how much later they start, in all.
struct CausedDelay {
  double seconds = 0;  // summed over the jobs
  double jobs = 0;     // that start over a minute later
};

// The mean over samples 0 to `samples` - 1 of the delay that `request`, running for `run_seconds`
// from its start, causes to jobs of other users that wait now, or that arrive before it ends. Each
// sample is simulated twice, with the request and without it, in the same future. Of waits beyond
// twice the time to its end only that much counts. nullopt: it does not start within two days.
std::optional<CausedDelay> SimulateDelay(const QueueModel& queue, const PendingJob& request,
                                         double run_seconds, int samples);

// One queued job in a simulated sample.
struct SimulatedJob {
  size_t pending = 0;  // index in queue.pending()
  int64_t start = 0;
  int64_t end = 0;
  HeldRange held;  // of its sample
};

// Arrays at the end of a queue, by consecutive ids: the number of tasks of each that take part.
struct ArraysInPlay {
  int64_t first_id = 0;
  std::vector<int64_t> tasks;
};

// Samples 0 to `samples` - 1 of the queue, each until all tasks in play have started.
std::vector<std::vector<SimulatedJob>> SimulateArrays(const QueueModel& queue, int samples,
                                                      const ArraysInPlay& arrays);

// The mean over samples 0 to `samples` - 1 of the delay that the tasks in play, all of one user,
// cause to jobs of other users that wait now, or that arrive within `seconds` (a day at most). As
// SimulateDelay. REQUIRES: `samples` >= 1.
CausedDelay SimulateArraysDelay(const QueueModel& queue, const ArraysInPlay& arrays,
                                int64_t seconds, int samples);

// Another holder of nodes in a sample: running now, or arriving later.
struct SimulatedOther {
  bool runs = false;  // running now; else it arrives
  int64_t start = 0;
  int64_t end = 0;
  Rank rank;  // if it arrives
  HeldRange held;
};

// One sample of the queue without a request. Valid while the queue lives.
struct SimulatedSample {
  // Those that start before the horizon, in queue order; a preempted job once per start.
  std::vector<SimulatedJob> jobs;
  std::vector<SimulatedOther> others;
  std::vector<HeldNodes> held;  // of all of them

  HeldSpan Held(const HeldRange& range) const { return Of(range, held); }
};
SimulatedSample SimulateSample(const QueueModel& queue, int sample);

// Futures of the queue, played also after the start of the last waiting job.
struct PlayedFutures {
  int samples = 0;
  int64_t seconds = 0;
};

// Passes as many samples as are wanted to `use`, each played for the wanted time. Where that takes
// more than may be spent they are fewer, at least four, and then shorter: the result says how many,
// and how long all of them are. `spent`: share of what may be spent, from 0 on.
PlayedFutures SimulateFutures(const QueueModel& queue, PlayedFutures wanted,
                              const std::function<double()>& spent,
                              const std::function<void(const SimulatedSample&)>& use);

// Slot of `request` in the current backfill plan, behind all jobs of higher rank.
enum class Durations { kLimits, kLastTwo };
SimulatedStart PlanNow(const QueueModel& queue, const PendingJob& request, Durations durations);

// Slots of all queued jobs, parallel to queue.pending(); kNever: none.
std::vector<int64_t> PlanAllNow(const QueueModel& queue, Durations durations);

// Ids of pending jobs that the scheduler would start at once, including jobs marked held in `held`
// as if first in their place.
std::vector<int64_t> StartableNow(const QueueModel& queue, const HeldJobs& held = {});

// Whether nodes for `request` are free now, ignoring other waiting jobs.
bool IsFreeNow(const QueueModel& queue, const PendingJob& request);

}  // namespace gpuadvise
