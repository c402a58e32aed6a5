#include "common/memory/batch_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "common/base/words.h"

namespace gpuadvise {
namespace {

// Smallest accumulation with which `per_step` (micro-batch × GPUs) samples reach the range, or 0.
int64_t AccumulationInto(const BatchRange& range, int64_t per_step) {
  int64_t accumulation = (range.low + per_step - 1) / per_step;
  return accumulation * per_step <= range.high ? accumulation : 0;
}

std::string RangeInWords(const BatchRange& range) {
  return range.low == range.high ? fmt::format("{}", range.low)
                                 : fmt::format("{}–{}", range.low, range.high);
}

// The multiples of `unit` around the range: "nearest 119 (17 × 7) or 126 (18 × 7)".
std::string NearestMultiples(const BatchRange& range, int64_t unit) {
  int64_t below = range.low / unit, above = range.high / unit + 1;
  std::string text = fmt::format("{} ({} × {})", above * unit, above, unit);
  return below == 0 ? text : fmt::format("{} ({} × {}) or {}", below * unit, below, unit, text);
}

tl::unexpected<Error> NoProduct(const TrainingSpec& training, const BatchRange& range,
                                int64_t gpus) {
  int64_t unit = gpus * training.micro_batch.value_or(1) * training.accumulation.value_or(1);
  std::string of = Plural(gpus, "GPU");
  if (training.micro_batch)
    of += fmt::format(" with per_device_train_batch_size {}", *training.micro_batch);
  if (training.accumulation)
    of += fmt::format(" and gradient_accumulation_steps {}", *training.accumulation);
  return Fail(ErrorCode::kInfeasible,
              fmt::format("effective_batch_size {} is not possible with {}; nearest {}",
                          RangeInWords(range), of, NearestMultiples(range, unit)),
              "/effective_batch_size");
}

Result<BatchPlan> PlanWithoutRange(const TrainingSpec& training, int64_t gpus, int64_t largest) {
  BatchPlan plan;
  plan.micro_batch = training.micro_batch.value_or(largest);
  plan.accumulation = training.accumulation.value_or(1);
  plan.effective = plan.micro_batch * gpus * plan.accumulation;
  return plan;
}

// The plan with micro-batch `micro` on `gpus` GPUs, if it reaches the range.
std::optional<BatchPlan> PlanAt(const TrainingSpec& training, const BatchRange& range, int64_t gpus,
                                int64_t micro) {
  int64_t per_step = micro * gpus;
  int64_t accumulation = training.accumulation.value_or(AccumulationInto(range, per_step));
  int64_t effective = per_step * accumulation;
  if (accumulation == 0 || effective < range.low || effective > range.high) return {};
  return BatchPlan{micro, accumulation, effective};
}

}  // namespace

int64_t MemoryOf(const MemoryLine& line, int64_t micro_batch) {
  return std::max(line.base_bytes + line.per_sample_bytes * micro_batch, line.floor_bytes) +
         line.overhead_bytes;
}

int64_t LargestMicroBatch(const MemoryLine& line, const GpuModel& gpu, double margin) {
  const double usable =
      gpu.memory_gb * 1e9 * (1 - margin) - static_cast<double>(line.overhead_bytes);
  const double room = usable - static_cast<double>(line.base_bytes);
  if (room <= 0 || usable < static_cast<double>(line.floor_bytes)) return 0;
  // The small addend corrects rounding when exactly full (19.2 GB − 7 GB over 1.22 GB).
  double samples = room / static_cast<double>(line.per_sample_bytes) + 1e-9;
  return static_cast<int64_t>(std::min(samples, static_cast<double>(kMaxMicroBatch)));
}

int64_t LargestAtPeakOfOne(int64_t most, const std::function<double(int64_t)>& bytes) {
  const double one = bytes(1);
  int64_t fits = 1;
  int64_t more = most + 1;  // the smallest that is too large
  while (more - fits > 1) {
    const int64_t between = fits + (more - fits) / 2;
    (bytes(between) <= one ? fits : more) = between;
  }
  return fits;
}

Result<BatchPlan> PlanBatch(const TrainingSpec& training, int64_t gpus, int64_t largest) {
  assert(gpus >= 1 && largest >= 1);
  if (training.micro_batch && *training.micro_batch > largest) {
    return Fail(
        ErrorCode::kInfeasible,
        fmt::format("per_device_train_batch_size {} does not fit; the largest that does is {}",
                    *training.micro_batch, largest),
        "/per_device_train_batch_size");
  }
  if (!training.effective_batch_size) return PlanWithoutRange(training, gpus, largest);
  const BatchRange& range = *training.effective_batch_size;
  if (training.micro_batch) {
    if (auto plan = PlanAt(training, range, gpus, *training.micro_batch)) return *plan;
    return NoProduct(training, range, gpus);
  }
  const int64_t samples = range.high / gpus;  // maximum for one GPU in a step
  const int64_t most = std::min(largest, samples);
  if (training.accumulation) {
    const int64_t micro = std::min(most, samples / *training.accumulation);
    if (micro < 1) return NoProduct(training, range, gpus);
    if (auto plan = PlanAt(training, range, gpus, micro)) return *plan;
    const int64_t of_step = gpus * *training.accumulation;
    const int64_t needed = (range.low + of_step - 1) / of_step;
    if (needed > largest && PlanAt(training, range, gpus, needed)) {
      return Fail(
          ErrorCode::kInfeasible,
          fmt::format("effective_batch_size {} with gradient_accumulation_steps {} needs {} "
                      "samples at once on each of {}; the largest that fits is {}",
                      RangeInWords(range), *training.accumulation, needed, Plural(gpus, "GPU"),
                      largest),
          "/effective_batch_size");
    }
    return NoProduct(training, range, gpus);
  }
  // From the largest micro-batch down. If one is too small with the largest accumulation, so is
  // every smaller one with the same accumulation: skip to the next accumulation. A million samples
  // take at most two thousand steps.
  for (int64_t micro = most; micro >= 1; micro = samples / (samples / micro + 1)) {
    if (auto plan = PlanAt(training, range, gpus, micro)) return *plan;
  }
  return NoProduct(training, range, gpus);
}

}  // namespace gpuadvise
