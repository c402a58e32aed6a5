// Start times of job arrays that have not been submitted.
//
// The first task is an ordinary question (start_of.h). The delays of the others are simulated: the
// arrays become pending records whose tasks start within their user's limits and their throttles.
// Cost: one queue model including the arrays, and a full simulation per sample. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/forecast/start_of.h"

namespace gpuadvise {

struct ArrayShape {
  int64_t tasks = 1;
  int64_t throttle = 0;  // most concurrent tasks; 0: unlimited
};

struct ArrayStarts {
  StartSamples first;  // of the first task
  StartSamples last;   // of the last simulated task
  int64_t tasks_played = 1;
  bool last_is_later = false;  // later than the horizon in at least half of the samples
};

// REQUIRES: array.tasks >= 1. Errors: as StartOf.
Result<ArrayStarts> StartOfArray(const QueueModel& queue, const JobRequest& request,
                                 const ArrayShape& array, const Submitter& submitter,
                                 size_t most_samples = kAllSamples);

// An array among others that are submitted with it, in their order.
struct PlayedArray {
  const JobRequest& request;
  const StartSamples& first;  // of a task alone, as StartOf gives it
  Submitter submitter;
  ArrayShape shape;
  std::optional<double> run_seconds;  // of each task; nullopt: as such jobs run
  int64_t priority = 0;               // Slurm's; 0: that of `first`
};

// Starts of one array's tasks in one sample, ascending; those beyond the horizon are missing.
using TaskStarts = std::vector<int64_t>;

// By sample and array.
using ArrayPlay = std::vector<std::vector<TaskStarts>>;

// Arrays in the queue together, of which any number of tasks can be played: one queue model for all
// plays. The same sample of each play, and of each question to one snapshot, has the same future.
// Longer queues and arrays have fewer samples. REQUIRES: the queue outlives this.
class PlayedArrays {
 public:
  PlayedArrays(const QueueModel& queue, const std::vector<PlayedArray>& arrays,
               size_t most_samples = kAllSamples);
  PlayedArrays(const PlayedArrays&) = delete;
  PlayedArrays& operator=(const PlayedArrays&) = delete;

  // Of array i its first `tasks[i]` tasks, at most PlayedArray::shape's.
  ArrayPlay Play(const std::vector<int64_t>& tasks) const;

  // What those tasks cost jobs of others that wait now or arrive within `seconds`
  // (SimulateArraysDelay()); nullopt: not told, as in DelayOf(). REQUIRES: all arrays are one
  // user's.
  std::optional<CausedDelay> DelayOf(const std::vector<int64_t>& tasks, double seconds) const;

 private:
  int64_t first_id_ = 0;
  int samples_ = 1;
  bool tells_delays_ = false;
  std::unordered_map<int64_t, double> run_times_;
  std::unique_ptr<QueueModel> queue_;
};

// All tasks of `arrays`.
ArrayPlay PlayArrays(const QueueModel& queue, const std::vector<PlayedArray>& arrays,
                     size_t most_samples = kAllSamples);

}  // namespace gpuadvise
