// What became of a training: the value of `gpuadvise-outcome.json` (docs/running.md).
//
// Written by `gpuadvise run`, taken by the daemon (POST /v1/outcomes). What is read comes from a
// user: every number is checked for its range, and how much there is of everything is bounded.
// Sizes are bytes, times unix seconds and seconds. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/fields.h"

namespace gpuadvise {

inline constexpr int kOutcomeVersion = 1;
inline constexpr size_t kMaxOutcomeBytes = 256u << 10;  // of the file, which may be indented
inline constexpr size_t kMostAttempts = 100;
inline constexpr size_t kMostGpusOfANode = 64;

// What ToJson() writes, as compact text: what may be sent and is kept of one job. A run on 8 GPUs
// with 60 starts takes less.
inline constexpr size_t kMaxSentOutcomeBytes = 64u << 10;

// What one GPU did over one start of the command.
struct GpuUse {
  int64_t peak_memory_bytes = 0;
  int64_t memory_total_bytes = 0;
  std::optional<double> mean_utilisation;  // 0..1: share of the time in which a kernel ran
  std::optional<double> mean_watts;

  template <typename F>
  static void Fields(F&& f) {
    f("peak_memory_bytes", &GpuUse::peak_memory_bytes);
    f("memory_total_bytes", &GpuUse::memory_total_bytes);
    f("mean_utilisation", &GpuUse::mean_utilisation);
    f("mean_watts", &GpuUse::mean_watts);
  }
};

// One start of the command.
struct Attempt {
  std::optional<int64_t> micro_batch, accumulation;
  int64_t began = 0;
  double seconds = 0;
  int exit_code = 0;
  int signal = 0;  // 0: it exited
  bool out_of_memory = false;
  bool host_memory = false;                   // of these: the node's, not a GPU's
  std::optional<int64_t> steps, total_steps;  // as its log counts them
  std::optional<int64_t> steps_done;          // seen go by in this start
  std::optional<double> seconds_per_step, loss;
  std::vector<GpuUse> gpus;

  template <typename F>
  static void Fields(F&& f) {
    f("micro_batch", &Attempt::micro_batch);
    f("accumulation", &Attempt::accumulation);
    f("began", &Attempt::began);
    f("seconds", &Attempt::seconds);
    f("exit_code", &Attempt::exit_code);
    f("signal", &Attempt::signal);
    f("out_of_memory", &Attempt::out_of_memory);
    f("host_memory", &Attempt::host_memory);
    f("steps", &Attempt::steps);
    f("total_steps", &Attempt::total_steps);
    f("steps_done", &Attempt::steps_done);
    f("seconds_per_step", &Attempt::seconds_per_step);
    f("loss", &Attempt::loss);
    f("gpus", &Attempt::gpus);
  }
};

// Mean of what the GPUs say of their use, 0..1; nullopt where none says it.
std::optional<double> MeanUse(const std::vector<GpuUse>& gpus);

struct Outcome {
  int64_t job_id = 0;     // Slurm's; 0 outside of a job
  std::string advice_id;  // "" where the job was not advised
  std::string host;
  std::vector<std::string> gpu_names;
  std::vector<Attempt> attempts;  // in the order of time; never empty
  bool running = false;           // the last attempt has not ended
  int64_t restarts = 0;           // times that Slurm had put the job back into the queue

  // For FromJson, which the client reads the daemon's answers by. What a user wrote is read by
  // ReadOutcome. `job_id` is text in JSON and not among them.
  template <typename F>
  static void Fields(F&& f) {
    f("advice_id", &Outcome::advice_id);
    f("host", &Outcome::host);
    f("gpu_names", &Outcome::gpu_names);
    f("attempts", &Outcome::attempts);
    f("running", &Outcome::running);
    f("restarts", &Outcome::restarts);
  }
};

// At most kMaxSentOutcomeBytes: of too many GPUs the older attempts keep the one that used most
// memory with the mean use of all, then the oldest attempts are left out, and of too many names of
// GPUs all but the first. Numbers that ReadOutcome would refuse are left out too.
nlohmann::json ToJson(const Outcome& outcome);

// Errors: kBadInput with what cannot be and its pointer. Members that are not known are ignored.
Result<Outcome> ReadOutcome(const nlohmann::json& document);

// The same from text; errors also where it is no JSON, or longer than kMaxOutcomeBytes.
Result<Outcome> ReadOutcomeText(std::string_view text);

}  // namespace gpuadvise
