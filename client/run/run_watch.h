// What is known of a running training: progress, use of its GPUs, whether it hangs.
//
// Fed with lines of its log and samples of its GPUs, each with the time; asked for words. A value
// that depends on its inputs alone. Times are seconds on any steady clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/run/gpu_sampler.h"
#include "client/run/training_log.h"

namespace gpuadvise {

/// Means and peaks over a run.
struct GpuUse {
  int64_t peak_memory_bytes = 0;
  int64_t memory_total_bytes = 0;
  double utilisation_sum = 0;
  double watts_sum = 0;
  int64_t utilisation_samples = 0;
  int64_t watts_samples = 0;

  std::optional<double> MeanUtilisation() const;
  std::optional<double> MeanWatts() const;
};

class RunWatch {
 public:
  explicit RunWatch(double hang_seconds) : hang_seconds_(hang_seconds) {}

  void Begin(double now);
  void AddLine(const LogFact& fact, bool out_of_memory, double now);
  void AddSamples(const std::vector<GpuSample>& samples, double now);

  std::optional<int64_t> step() const { return step_; }
  std::optional<int64_t> total_steps() const { return total_steps_; }
  std::optional<double> loss() const { return loss_; }
  /// As measured between the first step seen and the last, else as the log says.
  std::optional<double> SecondsPerStep() const;
  std::optional<double> SecondsLeft() const;
  bool out_of_memory() const { return out_of_memory_; }
  const std::vector<GpuUse>& gpus() const { return gpus_; }

  /// "step 50/1,000 · 1.5 s a step · 24 m left · loss 0.51 · GPU 93 % · 21.3 GiB"; "" before
  /// anything is known.
  std::string ProgressLine() const;

  /// What should be said now, once each: that it hangs, that its GPUs are little used.
  std::vector<std::string> NewHints(double now);

 private:
  double hang_seconds_;
  double began_ = 0;
  double last_sign_ = 0;  // of life: a line, or a busy GPU
  bool said_hang_ = false;
  bool said_idle_ = false;
  std::optional<int64_t> step_, total_steps_, first_step_;
  std::optional<double> loss_, said_seconds_per_step_;
  double first_step_at_ = 0;
  double step_at_ = 0;
  bool out_of_memory_ = false;
  std::vector<GpuUse> gpus_;
};

}  // namespace gpuadvise
