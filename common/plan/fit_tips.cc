#include "common/plan/fit_tips.h"

#include <algorithm>
#include <optional>

#include "common/plan/stage_plan.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

void AddBatch(const FitRow& row, TipContext& at) {
  if (!row.possible) return;
  at.memory_is_short = row.recommended == 0;
  if (row.aggressive == 0) return;
  at.micro_batch = row.setup.micro_batch;
  if (!row.batch) return;
  at.accumulation = row.batch->accumulation;
  at.effective_batch = row.batch->effective;
  at.steps = CountWork(at.training(), row.batch->effective).steps;
}

// Run time as estimated by `advise`, on one node.
std::optional<double> RunSeconds(const FitQuestion& question, const TipContext& at) {
  if (!at.micro_batch || !at.effective_batch) return {};
  const auto plan = PlanStage(at.stage, {at.gpu,
                                         question.gpus_in_all,
                                         1,
                                         {},
                                         question.spec.output,
                                         question.catalogue,
                                         question.presets});
  if (!plan) return {};
  return plan->run_p50_seconds;
}

bool WasMeasuredOn(const GpuModel& gpu, const FitQuestion& question, const Stage& stage) {
  const auto& measured = stage.training.measured;
  return std::any_of(measured.begin(), measured.end(), [&](const MeasuredStep& step) {
    return question.catalogue.Resolve(step.gpu) == &gpu;
  });
}

}  // namespace

std::vector<Tip> FitTips(const FitQuestion& question, const StageFit& fit) {
  const FitRow& row = fit.rows.front();
  const Stage& stage = *fit.stage;
  const GpuModel& gpu = *row.gpu;
  const ModelPreset* preset = question.presets.Require(stage.model.preset, "").value_or(nullptr);
  TipContext at{.spec = question.spec, .stage = stage, .gpu = gpu};
  // Useful even with a memory line: the model decides which tips apply.
  const Result<KnownModel> known = FindKnownModel(stage.model, preset);
  if (known) at.shape = known->shape.get();
  if (preset != nullptr) at.fp16_is_safe = preset->fp16;
  const auto precision = PrecisionOn(gpu, stage.training, at.fp16_is_safe.value_or(true));
  if (precision) at.precision = *precision;
  at.gpus_per_node = question.gpus_in_all;
  at.cpus_per_gpu = question.spec.resources.cpus_per_gpu;
  at.checkpointing =
      stage.training.gradient_checkpointing.value_or(Checkpointing::kNone) != Checkpointing::kNone;
  at.measured_here = WasMeasuredOn(gpu, question, stage);
  at.steps = stage.training.max_steps;
  AddBatch(row, at);
  if (row.shape) {
    at.setup = row.setup;
    at.checkpointing = at.setup->checkpointing != Checkpointing::kNone;
    at.rank_that_fits = row.shape->lora_rank_that_fits;
  }
  at.run_seconds = RunSeconds(question, at);
  at.memory_correction = fit.correction;
  return AllTips(at);
}

}  // namespace gpuadvise
