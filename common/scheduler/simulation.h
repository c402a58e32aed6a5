// Playing Slurm's scheduler forward from a QueueModel: when would the request start?
//
// See simulation.cc for the idea. Everything here is pure: the same model, request and sample give
// the same answer, on any thread. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "common/history/held_jobs.h"
#include "common/scheduler/queue_model.h"

namespace gpuadvise {

// What one sample came to.
struct SimulatedStart {
  int64_t start = kNever;  // kNever: not before the horizon, or never
  int32_t option = 0;      // index in the request's ways
  std::vector<GroupAllocation> nodes;
  bool at_once = false;      // in the first pass, before anything is drawn: so in every sample
  int64_t lost_seconds = 0;  // from start to end less its run time: its nodes were taken between
};

// One sample of the start of `request`, whose rank puts it into the queue. `sample` picks the
// random numbers: the same jobs run equally long in the same sample of every question.
SimulatedStart SimulateJob(const QueueModel& queue, const PendingJob& request, int sample);

// The samples 0 to `samples` - 1 of the same, at less cost than one by one.
std::vector<SimulatedStart> SimulateSamples(const QueueModel& queue, const PendingJob& request,
                                            int samples);

// One job of the queue as a sample plays it.
struct PlayedJob {
  size_t pending = 0;  // index in queue.pending()
  int64_t start = 0;
  int64_t end = 0;
  std::vector<GroupShare> shares;
};

// One sample of the whole queue, without a request: in the order of the queue, those that start
// before the horizon. A job whose nodes are taken is there once for each time that it starts.
std::vector<PlayedJob> SimulateQueue(const QueueModel& queue, int sample);

// Who else holds nodes in a sample: runs now, or arrives later.
struct PlayedOther {
  bool runs = false;  // now; else it arrives
  int64_t start = 0;
  int64_t end = 0;
  Rank rank;  // of one that arrives
  std::vector<GroupShare> shares;
};

// The same with everybody else.
struct PlayedSample {
  std::vector<PlayedJob> jobs;
  std::vector<PlayedOther> others;
};
PlayedSample PlaySample(const QueueModel& queue, int sample);

// Where the backfill plan puts `request` now, behind everything of higher rank.
enum class Durations { kLimits, kLastTwo };
SimulatedStart PlanNow(const QueueModel& queue, const PendingJob& request, Durations durations);

// The same for every job of the queue at once, parallel to queue.pending(); kNever: never.
std::vector<int64_t> PlanAllNow(const QueueModel& queue, Durations durations);

// Ids of pending jobs that the scheduler would start at once; those that `held` counts as held as
// well, as if they were first in their place.
std::vector<int64_t> StartableNow(const QueueModel& queue, const HeldJobs& held = {});

// Whether nodes for `request` are free now, whoever else waits.
bool IsFreeNow(const QueueModel& queue, const PendingJob& request);

}  // namespace gpuadvise
