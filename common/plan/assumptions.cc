#include "common/plan/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    const auto known = FindKnownModel(stage.model, preset);
    const bool measured = known && known->line != nullptr && HasTiming(stage.training);
    if (known && known->shape != nullptr && !measured) {
      AddStage(stage, *known->shape, found);
    } else {
      AddOnce(NotCountedOf(stage), found.sentences);
    }
  }
  return found;
}

}  // namespace gpuadvise
