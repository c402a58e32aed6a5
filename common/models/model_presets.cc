#include "common/models/model_presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

// A model name without parts that do not affect its shape: "meta-llama/Meta-Llama-3.1-8B-Instruct"
// becomes "llama-3.1-8b".
std::string FormlessName(const std::string& name) {
  static constexpr std::array<std::string_view, 31> kForms = {
      "-instruct",  "-it",     "-chat",    "-base",     "-hf",      "-pt",   "-v0.1",
      "-v0.2",      "-v0.3",   "-uncased", "-bnb-4bit", "-unsloth", "-2507", "-thinking",
      "-preview",   "-1m",     "-sft",     "-dpo",      "-awq",     "-gptq", "-gptq-int4",
      "-gptq-int8", "-int4",   "-int8",    "-fp8",      "-bf16",    "-gguf", "-bnb-8bit",
      "-4bit",      "-python", "-deduped"};
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

// Splits "qwen2.5-72b" into "qwen2.5" and 72e9; the first part that is a size counts.
struct NameParts {
  std::string family;
  double size = 0;  // parameters; 0: none in the name
};

NameParts PartsOf(const std::string& name) {
  NameParts parts;
  const std::string plain = FormlessName(name);
  for (size_t at = 0; at < plain.size();) {
    const size_t end = std::min(plain.find('-', at), plain.size());
    const std::string part = plain.substr(at, end - at);
    at = end + 1;
    char* unit = nullptr;
    double number = std::strtod(part.c_str(), &unit);
    std::string_view rest(unit);
    if (rest.size() == 2 && rest[0] == 'b' && IsDigit(rest[1])) {  // "1b7" is 1.7 B
      number += (rest[1] - '0') / 10.0;
      rest.remove_suffix(1);
    }
    const double scale = rest == "b" ? 1e9 : rest == "m" ? 1e6 : 0;
    if (parts.size == 0 && number > 0 && number < 1e5 && scale > 0) {
      parts.size = number * scale;
    } else {
      parts.family += (parts.family.empty() ? "" : "-") + part;
    }
  }
  return parts;
}

// Ratio of two sizes; 1 if one is unknown.
double Ratio(double a, double b) {
  if (a <= 0 || b <= 0) return 1;
  return a > b ? a / b : b / a;
}

constexpr double kSameSize = 1.3;  // names are rounded
constexpr double kEqualSize = 1.1;
constexpr size_t kMostRelatives = 4;

// "llama-3.1-8b" -> "llama318b".
std::string Squeezed(std::string_view name) {
  std::string letters;
  std::copy_if(name.begin(), name.end(), std::back_inserter(letters),
               [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); });
  return letters;
}

}  // namespace

std::string FamilyOf(const std::string& name) {
  constexpr size_t kShortest = 3;  // "e5" and "t5" keep their number
  size_t end = 0;
  while (end < name.size() && name[end] >= 'a' && name[end] <= 'z') ++end;
  return name.substr(0, end < kShortest ? name.find('-') : end);
}

std::optional<MemoryLine> ReadMemoryLine(KeyReader& model, const std::string& key) {
  std::optional<KeyReader> line = model.Map(key);
  if (!line) return {};
  std::optional<int64_t> base = line->Size("base");
  std::optional<int64_t> per_sample = line->Size("per_sample");
  std::optional<int64_t> overhead = line->Size("overhead");
  std::optional<int64_t> floor = line->Size("floor");
  line->Finish();
  if (!base || !per_sample) {
    model.Refuse(key, fmt::format("{} needs base and per_sample, each a size such as 5 GB", key));
    return {};
  }
  return MemoryLine{*base, *per_sample, overhead.value_or(0), floor.value_or(0)};
}

std::vector<MeasuredStep> ReadMeasuredSteps(KeyReader& training, const std::string& key) {
  std::vector<MeasuredStep> steps;
  for (KeyReader& item : training.Items(key)) {
    MeasuredStep step;
    step.gpu = item.Text("gpu").value_or("");
    step.gpus = item.Int("gpus").value_or(1);
    item.Into("batch", step.micro_batch);
    item.Into("seconds_per_step", step.seconds_per_step);
    item.Into("start_seconds", step.start_seconds);
    item.Into("effective_batch_size", step.effective_batch_size);
    item.Into("nodes", step.nodes);
    item.Into("peak", step.peak_bytes);
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
  DocumentErrors errors;
  ModelPresets presets;
  FieldReader top(document, "", &errors);
  if (document.is_object()) {
    for (const auto& [name, entry] : document.items()) {
      KeyReader model(FieldReader(entry, PointerTo("", name), &errors), "model");
      KeyReader training(model.fields(), "training");
      FieldReader& reader = model.fields();  // for keys that train.yaml lacks
      ModelPreset preset;
      preset.name = name;
      preset.title = reader.Text("title").value_or(name);
      model.Into("params", preset.params);
      preset.hub = reader.Texts("hub");
      preset.memory = ReadMemoryLine(model, "memory");
      preset.shape = ReadModelShape(model);
      // With a line, the shape only determines growth of run time and forward passes.
      if (preset.shape && preset.params > 0 && !preset.memory) {
        std::vector<std::string> of_the_shipped_file;
        MatchParameters(preset.params, *preset.shape, of_the_shipped_file);
      } else if (preset.shape && preset.params == 0) {
        preset.params = preset.shape->Parameters();
      }
      if (preset.shape && preset.shape->media) {  // parts not counted in blocks still take memory
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
  const auto last_part = [](const std::string& id) {
    return LowerCase(id.substr(id.rfind('/') + 1));
  };
  for (const auto& [own, preset] : presets_) {  // a copy under another organisation
    for (const std::string& id : preset.hub) {
      if (last_part(id) == last_part(name)) return &preset;
    }
  }
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
  const NameParts wanted = PartsOf(name);
  const std::string plain = FormlessName(name);
  const ModelPreset* nearest = nullptr;
  std::vector<std::string> as_large;
  std::vector<std::string> longer;     // names that start with this one
  std::vector<std::string> relatives;  // of its family, and of its size if it has one
  for (const auto& [own, preset] : presets_) {
    const double size = PartsOf(own).size > 0 ? PartsOf(own).size : preset.params;
    if (Ratio(size, wanted.size) <= kSameSize) as_large.push_back(own);
    if (Squeezed(own).starts_with(Squeezed(plain))) longer.push_back(own);
    if (FamilyOf(own) == FamilyOf(plain) && Ratio(size, wanted.size) <= kEqualSize) {
      relatives.push_back(own);
    }
    if (wanted.size <= 0 || PartsOf(own).family != wanted.family) continue;
    const bool nearer = nearest == nullptr ||
                        Ratio(preset.params, wanted.size) < Ratio(nearest->params, wanted.size);
    if (nearer) nearest = &preset;
  }
  if (nearest != nullptr && Ratio(nearest->params, wanted.size) <= kSameSize) {
    return fmt::format(" (did you mean '{}'?)", nearest->name);
  }
  std::vector<std::string>& near = longer.empty() ? relatives : longer;
  if (!near.empty()) {
    for (std::string& each : near) each = "'" + each + "'";
    return fmt::format(" (near: {})", JoinNames(near, kMostRelatives));
  }
  if (nearest == nullptr) return DidYouMean(plain, as_large);
  return fmt::format(" (nearest: '{}', {:.1f} B parameters)", nearest->name, nearest->params / 1e9);
}

Result<const ModelPreset*> ModelPresets::Require(const std::string& name,
                                                 const std::string& pointer) const {
  if (name.empty()) return nullptr;
  if (const ModelPreset* preset = Find(name)) return preset;
  if (const ModelPreset* preset = FindForm(name)) return preset;
  return BadInput(fmt::format("unknown model preset {}{}; `gpuadvise models` lists them",
                              Quoted(name), NearTo(name)),
                  pointer);
}

std::vector<std::string> ModelPresets::Names() const {
  std::vector<const ModelPreset*> sorted;
  for (const auto& [name, preset] : presets_) sorted.push_back(&preset);
  const auto key = [](const ModelPreset* preset) {
    return std::tuple(FamilyOf(preset->name), PartsOf(preset->name).family, preset->params,
                      preset->name);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const ModelPreset* a, const ModelPreset* b) { return key(a) < key(b); });
  std::vector<std::string> names;
  for (const ModelPreset* preset : sorted) names.push_back(preset->name);
  return names;
}

}  // namespace gpuadvise
