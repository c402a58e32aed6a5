#include "common/assumptions.h"

#include <fmt/format.h>

#include "common/memory_model.h"

namespace gpuadvise {

std::vector<std::string> AssumptionsOf(const Stage& stage) {
  const TrainingSpec& training = stage.training;
  std::vector<std::string> assumed = stage.model.assumed;
  if (!IsKnownOptimizer(training.optim)) {
    assumed.push_back(
        fmt::format("optim {} is not known: counted as AdamW with states in fp32", training.optim));
  }
  if (!training.max_seq_length) {
    assumed.push_back(fmt::format("{} tokens a sample: give training.max_seq_length",
                                  SetupFrom(training, "bf16", 1).seq_length));
  }
  return assumed;
}

}  // namespace gpuadvise
