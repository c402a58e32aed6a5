#include "common/tips.h"

#include <fmt/format.h>

#include "common/words.h"

namespace gpuadvise {
namespace {

constexpr size_t kMostTips = 3;

// A run this long repays the minutes that torch.compile takes at its start.
constexpr double kWorthCompiling = 2 * 3600;

std::string LoaderTip(const TrainingSpec& training, const Strategy& first) {
  if (training.dataloader_num_workers) return {};
  int64_t cpus = first.placement.cpus_per_node / first.placement.gpus_per_node;
  return fmt::format(
      "dataloader_num_workers: {} with pin_memory keeps {} fed (one worker a CPU of the GPU's "
      "share)",
      cpus < 8 ? cpus : 8, first.placement.pool->Name());
}

std::string CompileTip(const TrainingSpec& training, const Strategy& first) {
  if (training.torch_compile || first.run.p50 < kWorthCompiling) return {};
  return "torch_compile: true is said to give +10 to +40 % after a slow start; not with changing "
         "shapes";
}

std::string CheckpointTip(const TrainSpec& spec, const Strategy& first) {
  if (!spec.output.checkpoint_bytes) return {};
  int64_t steps = first.stages.back().work.steps;
  int64_t saves = spec.output.save_steps ? steps / *spec.output.save_steps : 0;
  int64_t kept = spec.output.keep ? *spec.output.keep : saves;
  if (kept < 1) return {};
  double bytes = static_cast<double>(kept) * static_cast<double>(*spec.output.checkpoint_bytes);
  return fmt::format("{} take {:.0f} GB: write them to scratch, not to your home",
                     Plural(kept, "checkpoint"), bytes / 1e9);
}

std::string AccumulationTip(const Strategy& first) {
  const BatchPlan& batch = first.stages.front().batch;
  if (batch.micro_batch > 2 || batch.accumulation < 8) return {};
  return fmt::format(
      "the micro-batch is only {}: gradient_checkpointing: true (about -50 % memory, "
      "-20 % speed) may allow a larger one",
      batch.micro_batch);
}

}  // namespace

std::vector<std::string> TipsFor(const TrainSpec& spec, const std::vector<Strategy>& strategies) {
  if (strategies.empty()) return {};
  const Strategy& first = strategies.front();
  const TrainingSpec& training = spec.stages.front().training;
  std::vector<std::string> tips;
  for (std::string tip : {AccumulationTip(first), CheckpointTip(spec, first),
                          LoaderTip(training, first), CompileTip(training, first)}) {
    if (!tip.empty() && tips.size() < kMostTips) tips.push_back(std::move(tip));
  }
  return tips;
}

}  // namespace gpuadvise
