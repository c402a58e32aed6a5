// Reads steps, speed, loss and out-of-memory errors from a training's log.
//
// Understands Hugging Face's Trainer ({'loss': 0.51, …}), the bars of tqdm, Trainer and Lightning
// (" 5%|▌ | 50/1000 [00:30<09:30, 1.67it/s, loss=0.5]"), and plain lines ("step 50/1000 loss 0.5",
// "iter 50: loss 0.5"). A user's own pattern is tried first. Patterns are RE2's, so the cost is
// linear in the line. Lines may contain any bytes. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise::client {

// The facts in one line; members that the line lacks are nullopt.
struct LogFact {
  std::optional<int64_t> step;
  std::optional<int64_t> total_steps;
  std::optional<double> seconds_per_step;
  std::optional<double> loss;

  bool empty() const { return !step && !total_steps && !seconds_per_step && !loss; }
};

class TrainingLog {
 public:
  TrainingLog();
  // Tries `pattern` first: an RE2 expression with groups named step, total, seconds or loss:
  // "it (?P<step>\d+) l=(?P<loss>\S+)". Errors: kBadInput with the fault in it.
  static Result<TrainingLog> WithPattern(const std::string& pattern);
  ~TrainingLog();
  TrainingLog(TrainingLog&&) noexcept;
  TrainingLog& operator=(TrainingLog&&) noexcept;

  LogFact Read(std::string_view line) const;

 private:
  struct Patterns;
  std::unique_ptr<const Patterns> patterns_;
};

enum class OutOfMemorySign { kNone, kGpu, kHost };

// The memory that ran out according to `line`: the GPU's (messages of CUDA, cuDNN, cuBLAS, NCCL) or
// the node's ("Killed", "unable to create new native thread", Slurm's oom-kill).
OutOfMemorySign OutOfMemoryIn(std::string_view line);

}  // namespace gpuadvise::client
