#include "common/tips.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/tip_rules.h"

namespace gpuadvise {
namespace {

constexpr size_t kMostTips = 3;
constexpr double kLeastCounted = 0.05 * (1 << 30);

using Rule = Tip (*)(const TipContext&);

constexpr Rule kRules[] = {
    HalfPrecisionTip,
    GradScalerTip,
    GradientCheckpointingTip,
    OptimizerStatesTip,
    ShorterSequencesTip,
    LoraRankTip,
    ZeroStageTip,
    FsdpTip,
    CpuOffloadTip,
    CheckpointStorageTip,
    SaveIntervalTip,
    LoaderWorkersTip,
    PinMemoryTip,
    PrefetchTip,
    TorchCompileTip,
    FlashAttentionTip,
    CudnnBenchmarkTip,
    FeatureCacheTip,
    NpzOrMmapTip,
    GpuUseTip,
    TryFirstTip,
    EffectiveBatchTip,
    HangTip,
    BeforeSubmittingTip,
};

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
  at.checkpointing = plan.checkpointing_chosen || stage.training.gradient_checkpointing == "true" ||
                     stage.training.gradient_checkpointing == "selective";
  return at;
}

/// What `change` saves at the peak; nullopt where nothing can be counted.
std::optional<double> SavedBytes(const TipContext& at, const Change& change) {
  if (at.shape == nullptr || !at.setup) return {};
  TrainingSetup changed = *at.setup;
  change(changed);
  return at.memory_correction *
         (PeakMemory(*at.shape, *at.setup).total() - PeakMemory(*at.shape, changed).total());
}

std::string InOneLine(const Tip& tip) {
  if (tip.effect.empty()) return tip.text;
  const bool claimed = tip.source_of_effect.starts_with("claimed");
  return fmt::format("{} ({}{})", tip.text, claimed ? "claimed: " : "", tip.effect);
}

}  // namespace

Tip Here(Tip tip, double worth) {
  tip.applies = true;
  tip.worth = worth;
  return tip;
}

Tip NotHere(Tip tip, std::string why) {
  tip.why_not = std::move(why);
  return tip;
}

bool HasSmallMicroBatch(const TipContext& at) {
  return at.micro_batch && *at.micro_batch <= 2 && at.accumulation && *at.accumulation >= 8;
}

bool NeedsMemory(const TipContext& at) { return at.memory_is_short || HasSmallMicroBatch(at); }

std::string WhyNoMemoryIsNeeded(const TipContext& at) {
  if (!at.micro_batch) return "nothing says that memory is short";
  if (*at.micro_batch > 2) return fmt::format("a micro-batch of {} fits without", *at.micro_batch);
  return fmt::format("a micro-batch of {} fits without, and little is accumulated",
                     *at.micro_batch);
}

Tip WithSaving(Tip tip, const TipContext& at, const Change& change) {
  const std::optional<double> saved = SavedBytes(at, change);
  if (!saved || *saved < kLeastCounted) return tip;
  const bool claimed = tip.source_of_effect == kClaimed;
  tip.source_of_effect = claimed ? kClaimedAndCounted : kCounted;
  tip.effect += fmt::format("{}-{:.1f} GiB{}", tip.effect.empty() ? "" : "; ", *saved / (1 << 30),
                            claimed ? " as counted" : "");
  return tip;
}

Tip HereIfItSaves(const Tip& tip, const TipContext& at, const Change& change, double worth) {
  const std::optional<double> saved = SavedBytes(at, change);
  if (!saved || *saved >= kLeastCounted) return Here(WithSaving(tip, at, change), worth);
  const bool in_step = PeakMemory(*at.shape, *at.setup).in_step;
  return NotHere(tip, fmt::format("it would save nothing, as counted: the peak is in the {}",
                                  in_step ? "optimizer's step" : "backward pass"));
}

std::vector<Tip> AllTips(const TipContext& context) {
  std::vector<Tip> tips;
  for (const Rule rule : kRules) tips.push_back(rule(context));
  std::stable_sort(tips.begin(), tips.end(), [](const Tip& a, const Tip& b) {
    return a.applies != b.applies ? a.applies : a.worth > b.worth;
  });
  return tips;
}

std::vector<std::string> TipsFor(const TrainSpec& spec, const std::vector<Strategy>& strategies) {
  if (strategies.empty()) return {};
  std::vector<std::string> lines;
  for (const Tip& tip : AllTips(ContextOf(spec, strategies.front()))) {
    const bool matters = tip.applies && tip.worth > 0;  // advise leaves remarks and questions out
    if (matters && lines.size() < kMostTips) lines.push_back(InOneLine(tip));
  }
  return lines;
}

}  // namespace gpuadvise
