#include "common/model_presets.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/measured_step.h"
#include "common/words.h"

namespace gpuadvise {

Result<ModelPresets> ModelPresets::FromJson(const nlohmann::json& document) {
  FirstError errors;
  ModelPresets presets;
  FieldReader top(document, "", &errors);
  if (document.is_object()) {
    for (const auto& [name, entry] : document.items()) {
      FieldReader reader(entry, PointerTo("", name), &errors);
      ModelPreset preset;
      preset.name = name;
      preset.title = reader.Text("title").value_or(name);
      preset.params = reader.Number("params", 1, 1e15).value_or(0);
      preset.memory = ReadMemoryLine(reader, "memory");
      preset.shape = ReadModelShape(reader);
      if (preset.params == 0 && preset.shape) {
        preset.params = static_cast<double>(preset.shape->Parameters());
      }
      preset.measured = ReadMeasuredSteps(reader, "measured");
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
  auto found = presets_.find(name);
  return found == presets_.end() ? nullptr : &found->second;
}

Result<const ModelPreset*> ModelPresets::Require(const std::string& name,
                                                 const std::string& pointer) const {
  if (name.empty()) return nullptr;
  if (const ModelPreset* preset = Find(name)) return preset;
  const std::vector<std::string> names = Names();
  return BadInput(fmt::format("no model preset is called '{}'{}; there is {}", name,
                              DidYouMean(name, names), JoinNames(names, 40)),
                  pointer);
}

std::vector<std::string> ModelPresets::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, preset] : presets_) names.push_back(name);
  return names;
}

}  // namespace gpuadvise
