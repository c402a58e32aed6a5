// Monitors a running training: progress, GPU utilisation, hangs.
//
// Takes lines of its log and samples of its GPUs, each with the time, and gives messages. Depends
// on its inputs only. Times are seconds of any steady clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/run/gpu_sampler.h"
#include "client/run/training_log.h"
#include "common/runs/outcome.h"

namespace gpuadvise::client {

// Adds up one GPU's samples.
class GpuTally {
 public:
  void AddMemory(const GpuSample& sample);
  void AddUse(const GpuSample& sample);
  GpuUse Use() const;

 private:
  int64_t peak_memory_bytes_ = 0;
  int64_t memory_total_bytes_ = 0;
  double utilisation_sum_ = 0;
  double watts_sum_ = 0;
  int64_t utilisation_samples_ = 0;
  int64_t watts_samples_ = 0;
};

class RunWatch {
 public:
  explicit RunWatch(double hang_seconds) : hang_seconds_(hang_seconds) {}

  void Begin(double now);
  void AddLine(const LogFact& fact, OutOfMemorySign sign, double now);
  void AddSamples(const std::vector<GpuSample>& samples, double now);

  std::optional<int64_t> step() const { return step_; }
  std::optional<int64_t> total_steps() const { return total_steps_; }
  std::optional<double> loss() const { return loss_; }
  // Measured between the first and the last step seen, else as given in the log.
  std::optional<double> SecondsPerStep() const;
  std::optional<double> SecondsLeft() const;
  // Whether the log reported it since the last step.
  bool out_of_memory() const { return sign_ != OutOfMemorySign::kNone; }
  bool host_memory() const { return sign_ == OutOfMemorySign::kHost; }
  // Steps from the first one seen to the last; nullopt: none seen.
  std::optional<int64_t> steps_done() const;
  std::vector<GpuUse> gpus() const;

  // "step 50/1,000 · 1.5 s a step · 24 m left · loss 0.51 · GPU 93 % · 21.3 GiB"; "": nothing known
  // yet.
  std::string ProgressLine() const;

  // New messages, each given once: the training hangs, or its GPUs are mostly idle.
  std::vector<std::string> NewHints(double now);

 private:
  double hang_seconds_;
  double began_ = 0;
  double last_sign_ = 0;  // time of the last line or busy GPU
  bool said_hang_ = false;
  bool said_idle_ = false;
  std::optional<int64_t> step_, total_steps_, first_step_;
  std::optional<double> loss_, said_seconds_per_step_;
  double first_step_at_ = 0;
  double step_at_ = 0;
  OutOfMemorySign sign_ = OutOfMemorySign::kNone;
  std::vector<GpuTally> gpus_;
};

}  // namespace gpuadvise::client
