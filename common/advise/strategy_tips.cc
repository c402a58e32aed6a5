#include "common/advise/strategy_tips.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/plan/tips.h"

namespace gpuadvise {
namespace {

constexpr size_t kMostTips = 3;
constexpr const char* kUncheckedMemory =
    "memory is not checked, because the file does not describe the model: set model.preset or "
    "model.memory: {base, per_sample}, or measure it with gpuadvise probe train.yaml";

TipContext ContextOf(const TrainSpec& spec, const Strategy& strategy) {
  const Placement& placement = strategy.placement;
  const StagePlan& plan = strategy.stages.front();
  const Stage& stage = spec.stages.front();
  TipContext at{.spec = spec, .stage = stage, .gpu = *placement.pool->model};
  at.precision = strategy.precision;
  at.gpus_per_node = placement.gpus_per_node;
  at.nodes = placement.nodes;
  at.cpus_per_gpu = std::max<int64_t>(1, placement.cpus_per_node / placement.gpus_per_node);
  at.micro_batch = plan.batch.micro_batch;
  at.accumulation = plan.batch.accumulation;
  at.effective_batch = plan.batch.effective;
  at.steps = plan.work.steps;
  at.run_seconds = strategy.run.p50;
  at.measured_here = plan.batch_measured;
  if (stage.model.shape) at.shape = &*stage.model.shape;
  at.checkpointing = plan.checkpointing_chosen || stage.training.gradient_checkpointing.value_or(
                                                      Checkpointing::kNone) != Checkpointing::kNone;
  return at;
}

std::string InOneLine(const Tip& tip) {
  if (tip.effect.empty()) return tip.text;
  const bool reported = tip.source_of_effect.starts_with("reported");
  return fmt::format("{} ({}{})", tip.text, reported ? "reported: " : "", tip.effect);
}

}  // namespace

std::vector<std::string> TipsFor(const TrainSpec& spec, const std::vector<Strategy>& strategies) {
  if (strategies.empty()) return {};
  std::vector<std::string> lines;
  const bool all_checked = std::all_of(strategies.begin(), strategies.end(),
                                       [](const Strategy& s) { return s.MemoryChecked(); });
  if (!all_checked) lines.emplace_back(kUncheckedMemory);
  const size_t most = lines.size() + kMostTips;
  for (const Tip& tip : AllTips(ContextOf(spec, strategies.front()))) {
    const bool matters = tip.applies && tip.worth > 0;  // advise leaves remarks and questions out
    if (matters && lines.size() < most) lines.push_back(InOneLine(tip));
  }
  return lines;
}

}  // namespace gpuadvise
