#include "common/training/model_presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

// A name of a model without what does not change its shape: "meta-llama/Meta-Llama-3.1-8B-Instruct"
// is "llama-3.1-8b".
std::string FormlessName(const std::string& name) {
  static constexpr std::array<std::string_view, 12> kForms = {
      "-instruct", "-it",   "-chat", "-base",    "-hf",       "-pt",
      "-v0.1",     "-v0.2", "-v0.3", "-uncased", "-bnb-4bit", "-unsloth"};
  std::string rest = LowerCase(name.substr(name.rfind('/') + 1));
  std::replace(rest.begin(), rest.end(), '_', '-');
  if (rest.starts_with("meta-")) rest.erase(0, 5);
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (const std::string_view form : kForms) {
      if (!rest.ends_with(form)) continue;
      rest.erase(rest.size() - form.size());
      shorter = true;
    }
  }
  return rest;
}

}  // namespace

std::optional<MemoryLine> ReadMemoryLine(KeyReader& model, const std::string& key) {
  std::optional<KeyReader> line = model.Map(key);
  if (!line) return {};
  std::optional<int64_t> base = line->Size("base");
  std::optional<int64_t> per_sample = line->Size("per_sample");
  std::optional<int64_t> overhead = line->Size("overhead");
  line->Finish();
  if (!base || !per_sample) {
    model.Refuse(key, fmt::format("{} needs base and per_sample, each a size such as 5 GB", key));
    return {};
  }
  return MemoryLine{*base, *per_sample, overhead.value_or(0)};
}

std::vector<MeasuredStep> ReadMeasuredSteps(KeyReader& training, const std::string& key) {
  std::vector<MeasuredStep> steps;
  for (KeyReader& item : training.Items(key)) {
    MeasuredStep step;
    step.gpu = item.Text("gpu").value_or("");
    step.gpus = item.Int("gpus").value_or(1);
    step.micro_batch = item.Int("batch").value_or(0);
    step.seconds_per_step = item.Number("seconds_per_step").value_or(0);
    step.effective_batch_size = item.Int("effective_batch_size").value_or(0);
    step.peak_bytes = item.Size("peak").value_or(0);
    item.Finish();
    const bool measures = step.seconds_per_step > 0 || step.peak_bytes > 0;
    if (step.gpu.empty() || step.micro_batch == 0 || !measures) {
      item.errors()->Note("a measured line needs gpu, batch and seconds_per_step or peak",
                          item.pointer());
    }
    steps.push_back(step);
  }
  return steps;
}

Result<ModelPresets> ModelPresets::FromJson(const nlohmann::json& document) {
  FirstError errors;
  ModelPresets presets;
  FieldReader top(document, "", &errors);
  if (document.is_object()) {
    for (const auto& [name, entry] : document.items()) {
      KeyReader model(FieldReader(entry, PointerTo("", name), &errors), "model");
      KeyReader training(model.fields(), "training");
      FieldReader& reader = model.fields();  // for what a train.yaml has not
      ModelPreset preset;
      preset.name = name;
      preset.title = reader.Text("title").value_or(name);
      preset.params = model.Number("params").value_or(0);
      preset.hub = reader.Texts("hub");
      preset.memory = ReadMemoryLine(model, "memory");
      preset.shape = ReadModelShape(model);
      if (preset.params == 0 && preset.shape) {
        preset.params = static_cast<double>(preset.shape->Parameters());
      }
      if (preset.shape && preset.shape->media) {  // what is counted of no block still takes memory
        preset.shape->other_params += std::llround(preset.params - preset.shape->Parameters());
      }
      preset.measured = ReadMeasuredSteps(training, "measured");
      reader.Any("measured");
      preset.fp16 = reader.Bool("fp16").value_or(true);
      preset.source = reader.Text("source").value_or("");
      reader.RefuseUnknown();
      presets.presets_.emplace(name, std::move(preset));
    }
  }
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  return presets;
}

const ModelPreset* ModelPresets::Find(const std::string& name) const {
  if (const auto found = presets_.find(name); found != presets_.end()) return &found->second;
  const std::string wanted = LowerCase(name);
  for (const auto& [own, preset] : presets_) {
    if (LowerCase(own) == wanted) return &preset;
    for (const std::string& id : preset.hub) {
      if (LowerCase(id) == wanted) return &preset;
    }
  }
  return nullptr;
}

const ModelPreset* ModelPresets::FindForm(const std::string& name) const {
  const std::string wanted = FormlessName(name);
  for (const auto& [own, preset] : presets_) {
    if (FormlessName(own) == wanted) return &preset;
    for (const std::string& id : preset.hub) {
      if (FormlessName(id) == wanted) return &preset;
    }
  }
  return nullptr;
}

std::string ModelPresets::NearTo(const std::string& name) const {
  return DidYouMean(FormlessName(name), Names());
}

Result<const ModelPreset*> ModelPresets::Require(const std::string& name,
                                                 const std::string& pointer) const {
  if (name.empty()) return nullptr;
  if (const ModelPreset* preset = Find(name)) return preset;
  return BadInput(fmt::format("no model preset is called {}{}; `gpuadvise models` lists them",
                              Quoted(name), NearTo(name)),
                  pointer);
}

std::vector<std::string> ModelPresets::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, preset] : presets_) names.push_back(name);
  return names;
}

}  // namespace gpuadvise
