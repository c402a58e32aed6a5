#include "common/plan/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/words.h"
#include "common/plan/stage_plan.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

void AddOnce(std::string text, std::vector<std::string>& texts) {
  if (text.empty() || std::find(texts.begin(), texts.end(), text) != texts.end()) return;
  texts.push_back(std::move(text));
}

void AddStage(const Stage& stage, const ModelShape& shape, Assumptions& found) {
  const TrainingSpec& training = stage.training;
  for (std::string& sentence : AssumptionsOf(stage, shape)) {
    AddOnce(std::move(sentence), found.sentences);
  }
  if (training.method != Method::kFull && training.lora.target_modules.empty() && !shape.media) {
    AddOnce("adapters on all linear layers; lora.target_modules settles it", found.sentences);
  }
  if (training.method != Method::kFull && shape.vision && !shape.vision->frozen) {
    AddOnce("no adapters in the vision tower; model.vision.frozen settles it", found.sentences);
  }
  if (training.method == Method::kFull && !training.optim_is_said) {
    AddOnce("PyTorch's AdamW with a kernel for each operation; optim settles it", found.sentences);
  }
  if (!training.gradient_checkpointing && shape.layers.num_hidden_layers > 0) {
    AddOnce("gradient checkpointing where the batch needs it; gradient_checkpointing settles it",
            found.sentences);
  }
  const bool timed = HasTiming(training);
  if (!timed && !training.mean_seq_length && shape.layers.num_hidden_layers > 0) {
    AddOnce(
        "every sample has max_seq_length; for shorter ones set mean_seq_length, or add a timing to "
        "measured",
        found.sentences);
  }
  if (AssumesLength(training, shape)) AddOnce("training.max_seq_length", found.unsettled);
  if (AssumesNoImages(training, shape)) AddOnce("training.images_per_sample", found.unsettled);
}

}  // namespace

Assumptions FindAssumptions(const TrainSpec& spec, const ModelPresets& presets) {
  Assumptions found;
  for (const Stage& stage : spec.stages) {
    const ModelPreset* preset = presets.Require(stage.model.preset, "").value_or(nullptr);
    if (preset != nullptr && presets.Find(stage.model.preset) == nullptr) {
      AddOnce(fmt::format("{} has the shape of {}", stage.model.preset, preset->name),
              found.sentences);
    }
    if (preset != nullptr && !preset->fp16 && stage.training.fp16 == true) {
      AddOnce(fmt::format("fp16 works, though {} overflows in it: set bf16: true, or fp16: false",
                          preset->name),
              found.sentences);
    }
    const auto known = FindKnownModel(stage.model, preset);
    const bool measured = known && known->line != nullptr && HasTiming(stage.training);
    if (known && !measured && !stage.training.bf16 && !stage.training.fp16) {
      AddOnce("half precision, bf16 where the GPU has it; bf16 or fp16 settles it",
              found.sentences);
    }
    if (known && known->shape != nullptr && !measured) {
      AddStage(stage, *known->shape, found);
    } else {
      AddOnce(NotCountedOf(stage), found.sentences);
    }
  }
  if (!IsStartKnown(spec)) {
    AddOnce(fmt::format("{} before the first step; training.start_seconds settles it",
                        DurationInWords(StartUpSeconds(spec))),
            found.sentences);
  }
  return found;
}

}  // namespace gpuadvise
