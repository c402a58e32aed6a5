#include "common/plan/observed_batches.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/bytes.h"

namespace gpuadvise {
namespace {

// Runs sharded over more GPUs say nothing about fewer, nor do failures on fewer. Other users' runs
// are no evidence either: they may be invented.
bool SaysItRuns(const MeasuredStep& step, const TrainingSetup& setup) {
  return !step.out_of_memory && !step.by_others &&
         !(setup.zero_stage > 0 && step.gpus > setup.gpus);
}
bool SaysItRunsOut(const MeasuredStep& step, const TrainingSetup& setup) {
  return step.out_of_memory && !(setup.zero_stage > 0 && step.gpus < setup.gpus);
}

// Why what `step` did on `card` is impossible on `gpu`; "" if it is not evidence for that.
std::string WhyItRunsOut(const MeasuredStep& step, const TrainingSetup& setup, const GpuModel& card,
                         const GpuModel& gpu) {
  if (SaysItRunsOut(step, setup) && card.memory_bytes >= gpu.memory_bytes) {
    return "ran out of memory on " + card.display_name;
  }
  const bool more = static_cast<double>(step.peak_bytes) > UsableBytes(gpu);
  if (step.out_of_memory || &card == &gpu || !more || step.gpus > setup.gpus) return "";
  return fmt::format("took {:.1f} GiB on {}, this GPU has {:g}", Bytes{step.peak_bytes}.GiB(),
                     card.display_name, gpu.memory_gb);
}

}  // namespace

std::string TimedAnyway(bool has_line) {
  return std::string("yet it was timed there: ") +
         (has_line ? "correct model.memory" : "give the peak of that run");
}

ObservedBatches BatchesSeenOn(const GpuModel& gpu, const TrainingSpec& training,
                              const TrainingSetup& setup, const GpuCatalogue& catalogue) {
  ObservedBatches seen;
  for (const MeasuredStep& step : training.measured) {
    if (catalogue.Resolve(step.gpu) != &gpu) continue;
    if (SaysItRunsOut(step, setup) && step.micro_batch < seen.ran_out) {
      seen.ran_out = step.micro_batch;
      seen.how_it_ran_out = fmt::format(
          "{} ran out of memory there{}",
          step.micro_batch == 1 ? "one sample" : fmt::format("micro-batch {}", step.micro_batch),
          step.by.empty() ? "" : ", in " + step.by);
    }
    if (SaysItRuns(step, setup)) seen.ran = std::max(seen.ran, step.micro_batch);
  }
  seen.ran = std::min(seen.ran, seen.ran_out - 1);
  return seen;
}

ObservedBatches BatchesSeenAnywhere(const GpuModel& gpu, const TrainingSpec& training,
                                    const TrainingSetup& setup, const GpuCatalogue& catalogue) {
  ObservedBatches seen;
  for (const MeasuredStep& step : training.measured) {
    const GpuModel* card = catalogue.Resolve(step.gpu);
    if (card == nullptr) continue;
    const std::string why_not = WhyItRunsOut(step, setup, *card, gpu);
    if (!why_not.empty() && step.micro_batch < seen.ran_out) {
      seen.ran_out = step.micro_batch;
      seen.how_it_ran_out = why_not;
    }
    const bool small =
        step.peak_bytes > 0 && static_cast<double>(step.peak_bytes) <= UsableBytes(gpu);
    if (SaysItRuns(step, setup) && (small || card->memory_bytes <= gpu.memory_bytes)) {
      seen.ran = std::max(seen.ran, step.micro_batch);
    }
  }
  seen.ran = std::min(seen.ran, seen.ran_out - 1);
  return seen;
}

}  // namespace gpuadvise
