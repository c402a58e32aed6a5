#include "common/memory/memory_range.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr double kP90 = 1.2816;  // standard deviations
constexpr double kP95 = 1.6449;

}  // namespace

double MemoryDeviation(const TrainingSetup& setup, bool measured) {
  if (measured) return 0.07;
  const bool in_parts = setup.tensor_parallel > 1 || setup.pipeline_parallel > 1 ||
                        setup.context_parallel > 1 || setup.expert_parallel > 1;
  if (setup.offload != Offload::kNone || in_parts) return 0.25;
  if (setup.trainer != Trainer::kSft) return 0.2;
  if (setup.zero_stage >= 2 || BaseOf(setup) == BaseWeights::kNf4 ||
      BaseOf(setup) == BaseWeights::kGptq4) {
    return 0.13;
  }
  return setup.method == Method::kFull ? 0.10 : 0.07;
}

MemoryRange RangeOfPeak(double bytes, double highest, const TrainingSetup& setup, bool measured) {
  const double factor = std::exp(kP90 * MemoryDeviation(setup, measured));
  return {bytes / factor, std::max(bytes * factor, highest)};
}

double SafetyMargin(const TrainingSetup& setup, bool measured) {
  constexpr double kToSpare = 1.05;
  return 1 - std::exp(-kP95 * MemoryDeviation(setup, measured)) / kToSpare;
}

double ConservativeMargin(double margin) {
  constexpr double kMost = 0.5;
  return std::min(2 * margin, kMost);
}

}  // namespace gpuadvise
