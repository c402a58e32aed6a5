#include "common/plan/answer_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/plan/fit_tips.h"
#include "common/plan/model_accuracy.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

int64_t Rounded(double number) { return std::llround(std::min(number, 9e18)); }

api::MemoryUse MemoryOf(const StageFit& stage, const FitRow& row) {
  api::MemoryUse memory;
  memory.total_bytes = Rounded(row.total_bytes);
  if (!row.shape) {
    memory.weights_bytes = stage.line->base_bytes;
    memory.activations_bytes = stage.line->per_sample_bytes * row.setup.micro_batch;
    memory.framework_bytes = stage.line->overhead_bytes;
    memory.basis = "line";
    return memory;
  }
  memory.low_bytes = Rounded(row.range.low);
  memory.high_bytes = Rounded(row.range.high);
  const MemoryParts& parts = row.shape->memory;
  const auto part = [&](double bytes) { return Rounded(stage.correction * bytes); };
  memory.weights_bytes = part(parts.weights);
  memory.gradients_bytes = part(parts.gradients);
  memory.optimizer_bytes = part(parts.optimizer);
  memory.activations_bytes = part(parts.activations);
  memory.logits_bytes = part(parts.logits);
  memory.workspace_bytes = part(parts.workspace);
  memory.framework_bytes = part(parts.framework);
  memory.peak_in = parts.in_step ? "optimizer step" : "backward pass";
  memory.basis = stage.correction == 1 ? "counted" : "counted, corrected by measured peaks";
  return memory;
}

// For image, video and audio samples.
void AddSampleSize(const ModelShape& shape, const TrainingSetup& setup,
                   api::FitSettings& settings) {
  if (!shape.media) return;
  const MediaSize size = ResolveSampleSize(*shape.media, setup.media.size);
  if (size.resolution > 0) settings.resolution = size.resolution;
  if (size.num_frames > 1) settings.num_frames = size.num_frames;
  if (size.audio_seconds > 0) settings.audio_seconds = size.audio_seconds;
}

api::FitSettings DescribeSettings(const StageFit& stage, const FitRow& row) {
  const TrainingSetup& setup = row.setup;
  api::FitSettings settings;
  settings.precision = ToWord(setup.precision);
  settings.method = ToWord(setup.method);
  if (!row.shape) return settings;
  const bool selective = setup.checkpointing == Checkpointing::kSelective;
  settings.gradient_checkpointing =
      selective ? json("selective") : json(setup.checkpointing == Checkpointing::kFull);
  settings.optim = setup.optim;
  settings.zero_stage = setup.zero_stage;
  settings.pure_bf16 = setup.pure_half;
  if (stage.shape->layers.num_hidden_layers > 0) settings.max_seq_length = setup.seq_length;
  AddSampleSize(*stage.shape, setup, settings);
  if (setup.method != Method::kFull) settings.lora_rank = setup.lora_rank;
  return settings;
}

void AddShape(const ShapeFit& fit, api::FitFigures& row) {
  row.lora_rank_that_fits = fit.lora_rank_that_fits;
  row.savings.emplace();
  for (const Saving& saving : fit.savings) {
    row.savings->push_back(
        {saving.change, Rounded(saving.bytes), saving.max_micro_batch, saving.costs});
  }
  row.would_fit_with = fit.would_fit_with;
}

api::FitFigures FiguresOf(const StageFit& stage, const FitRow& row) {
  api::FitFigures out;
  out.margin = row.margin;
  out.max_micro_batch = {row.conservative, row.recommended, row.aggressive};
  out.micro_batch = row.setup.micro_batch;
  if (row.batch) {
    out.accumulation = row.batch->accumulation;
    out.effective_batch_size = row.batch->effective;
  }
  out.memory = MemoryOf(stage, row);
  out.settings = DescribeSettings(stage, row);
  if (row.eval) out.eval_micro_batch = row.eval->batch;
  if (row.inference) {
    out.inference_batch = row.inference->batch;
    out.inference_memory_bytes = Rounded(row.inference->bytes_of_1);
  }
  if (row.shape) AddShape(*row.shape, out);
  return out;
}

api::FitGpu GpuRow(const StageFit& stage, const FitRow& row) {
  api::FitGpu out;
  out.gpu = row.gpu->id;
  out.gpu_name = row.gpu->display_name;
  out.gpu_memory_bytes = row.gpu->memory_bytes;
  out.fits = row.fits;
  out.notes = row.notes;
  if (row.possible) out.figures = FiguresOf(stage, row);
  return out;
}

// How evaluation and inference memory follow from a memory line.
std::string ForwardAssumption(const StageFit& stage) {
  const bool own = stage.likeness_is_own;
  return fmt::format(
      "evaluation and inference take the weights, the line's overhead and, of its bytes a sample, "
      "the share that forward passes need by {}",
      own ? "the model's shape" : "the shape of a plain transformer of as many parameters");
}

api::FitModel ModelOf(const FitQuestion& question, const StageFit& stage) {
  api::FitModel answer;
  answer.model = stage.title;
  answer.gpus_in_all = question.gpus_in_all;
  if (stage.shape != nullptr) {
    answer.parameters = Rounded(stage.shape->Parameters());
    answer.trained_parameters = Rounded(stage.trained_parameters);
    answer.assumed = AssumptionsOf(*stage.stage, *stage.shape);
  } else if (stage.likeness) {
    answer.assumed = std::vector<std::string>{ForwardAssumption(stage)};
  }
  for (const FitRow& row : stage.rows) answer.gpus.push_back(GpuRow(stage, row));
  if (!question.tips || stage.rows.empty()) return answer;
  for (const Tip& tip : FitTips(question, stage)) {
    answer.tips.push_back(
        {tip.name, tip.text, tip.effect, tip.source_of_effect, tip.applies, tip.why_not});
  }
  return answer;
}

}  // namespace

Result<api::Fit> AnswerFit(const FitQuestion& question) {
  const Result<std::vector<StageFit>> fits = FitStages(question);
  if (!fits) return tl::unexpected<Error>(fits.error());
  api::Fit answer;
  answer.name = question.spec.name;
  for (const StageFit& fit : *fits) {
    answer.stages.push_back({fit.stage->name, ModelOf(question, fit)});
  }
  if (answer.stages.size() == 1) {  // a single stage is also at the top level
    answer.only_stage = answer.stages[0].fit;
    if (question.gpus.size() == 1) answer.only_gpu = answer.only_stage->gpus[0];
  }
  answer.accuracy = ComputeAccuracy(kMemoryAccuracy);
  return answer;
}

}  // namespace gpuadvise
