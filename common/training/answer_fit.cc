#include "common/training/answer_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/training/fit_tips.h"
#include "common/training/model_accuracy.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

int64_t Rounded(double number) { return std::llround(std::min(number, 9e18)); }

json MemoryJson(const StageFit& stage, const FitRow& row) {
  json memory = {{"total_bytes", Rounded(row.total_bytes)}};
  if (!row.shape) {
    memory["weights_bytes"] = stage.line->base_bytes;
    memory["activations_bytes"] = stage.line->per_sample_bytes * row.setup.micro_batch;
    memory["framework_bytes"] = stage.line->overhead_bytes;
    memory["basis"] = "line";
    return memory;
  }
  if (row.high_bytes > row.total_bytes) memory["high_bytes"] = Rounded(row.high_bytes);
  const MemoryParts& parts = row.shape->memory;
  const auto part = [&](double bytes) { return Rounded(stage.correction * bytes); };
  memory["weights_bytes"] = part(parts.weights);
  memory["gradients_bytes"] = part(parts.gradients);
  memory["optimizer_bytes"] = part(parts.optimizer);
  memory["activations_bytes"] = part(parts.activations);
  memory["logits_bytes"] = part(parts.logits);
  memory["workspace_bytes"] = part(parts.workspace);
  memory["framework_bytes"] = part(parts.framework);
  memory["peak_in"] = parts.in_step ? "optimizer step" : "backward pass";
  memory["basis"] = stage.correction == 1 ? "counted" : "counted, corrected by measured peaks";
  return memory;
}

json CheckpointingJson(Checkpointing checkpointing) {
  if (checkpointing == Checkpointing::kSelective) return "selective";
  return checkpointing == Checkpointing::kFull;
}

// Of a sample that is a picture, a film or sound.
void AddSampleSize(const ModelShape& shape, const TrainingSetup& setup, json& settings) {
  if (!shape.media) return;
  const MediaSize size = SizeOfSample(*shape.media, setup.media.size);
  if (size.resolution > 0) settings["resolution"] = size.resolution;
  if (size.num_frames > 1) settings["num_frames"] = size.num_frames;
  if (size.audio_seconds > 0) settings["audio_seconds"] = size.audio_seconds;
}

json SettingsJson(const StageFit& stage, const FitRow& row) {
  const TrainingSetup& setup = row.setup;
  json settings = {{"precision", ToWord(setup.precision)}, {"method", ToWord(setup.method)}};
  if (!row.shape) return settings;
  settings["gradient_checkpointing"] = CheckpointingJson(setup.checkpointing);
  settings["optim"] = setup.optim;
  settings["zero_stage"] = setup.zero_stage;
  settings["pure_bf16"] = setup.pure_half;
  if (stage.shape->layers.num_hidden_layers > 0) settings["max_seq_length"] = setup.seq_length;
  AddSampleSize(*stage.shape, setup, settings);
  if (setup.method != Method::kFull) settings["lora_rank"] = setup.lora_rank;
  return settings;
}

void AddShape(const ShapeFit& fit, json& row) {
  if (fit.lora_rank_that_fits) row["lora_rank_that_fits"] = *fit.lora_rank_that_fits;
  json& savings = row["savings"] = json::array();
  for (const Saving& saving : fit.savings) {
    savings.push_back({{"change", saving.change},
                       {"saves_bytes", Rounded(saving.bytes)},
                       {"max_micro_batch", saving.max_micro_batch},
                       {"costs", saving.costs}});
  }
  if (fit.would_fit_with) row["would_fit_with"] = *fit.would_fit_with;
}

json RowJson(const StageFit& stage, const FitRow& row) {
  json out = {{"gpu", row.gpu->id},
              {"gpu_name", row.gpu->display_name},
              {"gpu_memory_bytes", row.gpu->memory_bytes},
              {"fits", row.fits}};
  if (!row.notes.empty()) out["notes"] = row.notes;
  if (!row.possible) return out;
  out["margin"] = row.margin;
  out["max_micro_batch"] = {{"conservative", row.conservative},
                            {"recommended", row.recommended},
                            {"aggressive", row.aggressive}};
  out["micro_batch"] = row.setup.micro_batch;
  if (row.batch) {
    out["accumulation"] = row.batch->accumulation;
    out["effective_batch_size"] = row.batch->effective;
  }
  out["memory"] = MemoryJson(stage, row);
  out["settings"] = SettingsJson(stage, row);
  if (row.eval) out["eval_micro_batch"] = row.eval->batch;
  if (row.inference) {
    out["inference_batch"] = row.inference->batch;
    out["inference_memory_bytes"] = Rounded(row.inference->bytes_of_1);
  }
  if (row.shape) AddShape(*row.shape, out);
  return out;
}

json TipsJson(const std::vector<Tip>& tips) {
  json list = json::array();
  for (const Tip& tip : tips) {
    list.push_back({{"name", tip.name},
                    {"text", tip.text},
                    {"effect", tip.effect},
                    {"effect_source", tip.source_of_effect},
                    {"applies", tip.applies},
                    {"why_not", tip.why_not}});
  }
  return list;
}

// Where memory is a line, how evaluation and inference follow from it.
std::string ForwardAssumption(const StageFit& stage) {
  const bool own = stage.likeness_is_own;
  return fmt::format(
      "evaluation and inference take the weights, the line's overhead and, of its bytes a sample, "
      "the share that forward passes need by {}",
      own ? "the model's shape" : "the shape of a plain transformer of as many parameters");
}

json StageJson(const FitQuestion& question, const StageFit& stage) {
  json answer = {
      {"name", stage.stage->name}, {"model", stage.title}, {"gpus_in_all", question.gpus_in_all}};
  if (stage.shape != nullptr) {
    answer["parameters"] = Rounded(stage.shape->Parameters());
    answer["trained_parameters"] = Rounded(stage.trained_parameters);
    answer["assumed"] = AssumptionsOf(*stage.stage, *stage.shape);
  } else if (stage.likeness) {
    answer["assumed"] = {ForwardAssumption(stage)};
  }
  json rows = json::array();
  for (const FitRow& row : stage.rows) rows.push_back(RowJson(stage, row));
  if (question.tips && !stage.rows.empty()) answer["tips"] = TipsJson(FitTips(question, stage));
  answer["gpus"] = std::move(rows);
  return answer;
}

}  // namespace

Result<json> AnswerFit(const FitQuestion& question) {
  const Result<std::vector<StageFit>> fits = FitStages(question);
  if (!fits) return tl::unexpected<Error>(fits.error());
  json stages = json::array();
  for (const StageFit& fit : *fits) stages.push_back(StageJson(question, fit));
  json answer = {{"name", question.spec.name}, {"stages", stages}};
  if (stages.size() == 1) {  // what there is one of lies at hand
    answer.update(stages[0]);
    answer["name"] = question.spec.name;
    if (question.gpus.size() == 1) answer.update(stages[0]["gpus"][0]);
  }
  answer["accuracy"] = AccuracyJson(kMemoryAccuracy);
  return answer;
}

}  // namespace gpuadvise
