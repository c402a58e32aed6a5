#include "common/fit_tips.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/batch_fit.h"
#include "common/known_model.h"
#include "common/memory_model.h"
#include "common/precision.h"
#include "common/stage_plan.h"
#include "common/tips.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

std::optional<int64_t> Count(const json& row, const char* key) {
  const auto found = row.find(key);
  return found == row.end() ? std::nullopt : std::optional(found->get<int64_t>());
}

void AddBatch(const json& row, const Stage& stage, TipContext& at) {
  const auto bounds = row.find("max_micro_batch");
  if (bounds == row.end()) return;
  at.memory_is_short = Count(*bounds, "recommended") == 0;
  if (Count(*bounds, "aggressive") == 0) return;
  at.micro_batch = Count(row, "micro_batch");
  at.accumulation = Count(row, "accumulation");
  at.effective_batch = Count(row, "effective_batch_size");
  if (at.effective_batch) at.steps = WorkOf(stage.training, *at.effective_batch).steps;
}

/// Counted memory, at the row's own micro-batch.
void AddSetup(const json& row, const FitQuestion& question, TipContext& at) {
  if (!row.contains("savings")) return;  // a line, or a GPU that cannot train this at all
  at.setup = SetupOn(at.gpu, *at.shape, at.training(), at.precision, question.gpus_in_all,
                     kRecommendedMargin);
  at.setup->micro_batch = Count(row, "micro_batch").value_or(1);
  at.checkpointing = at.setup->checkpointing != Checkpointing::kNone;
}

/// As `advise` estimates it, on one node.
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

TipContext ContextOf(const FitQuestion& question, const Stage& stage, const json& row) {
  const GpuModel& gpu = *question.gpus.front();
  const ModelPreset* preset = question.presets.Find(stage.model.preset);
  TipContext at{.spec = question.spec, .stage = stage, .gpu = gpu};
  // Also where memory is a line: what the model is made of says which tips make sense.
  at.shape = KnownModelOf(stage.model, preset).shape;
  if (preset != nullptr) at.fp16_is_safe = preset->fp16;
  const auto precision = PrecisionOn(gpu, stage.training, at.fp16_is_safe.value_or(true));
  if (precision) at.precision = *precision;
  at.gpus_per_node = question.gpus_in_all;
  at.cpus_per_gpu = question.spec.resources.cpus_per_gpu;
  const std::string& checkpointing = stage.training.gradient_checkpointing;
  at.checkpointing = checkpointing == "true" || checkpointing == "selective";
  at.measured_here = WasMeasuredOn(gpu, question, stage);
  at.steps = stage.training.max_steps;
  AddBatch(row, stage, at);
  AddSetup(row, question, at);
  at.rank_that_fits = Count(row, "lora_rank_that_fits");
  at.run_seconds = RunSeconds(question, at);
  return at;
}

}  // namespace

json FitTips(const FitQuestion& question, const Stage& stage, const json& row,
             double memory_correction) {
  TipContext at = ContextOf(question, stage, row);
  at.memory_correction = memory_correction;
  json list = json::array();
  for (const Tip& tip : AllTips(at)) {
    list.push_back({{"name", tip.name},
                    {"text", tip.text},
                    {"effect", tip.effect},
                    {"effect_source", tip.source_of_effect},
                    {"applies", tip.applies},
                    {"why_not", tip.why_not}});
  }
  return list;
}

}  // namespace gpuadvise
