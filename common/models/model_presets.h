// Model presets: `model: {preset: NAME}` in train.yaml.
//
// From the JSON form of models.yaml; a site's file may add or override entries. Immutable. Sizes
// are bytes (GB = 10^9 in the file).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/models/model_shape.h"

namespace gpuadvise {

// Training memory as a line in the micro-batch: base + per_sample × batch + overhead, but at least
// floor + overhead (the optimizer step, independent of the micro-batch). Source: the formula of
// Isaac-GR00T's team guide, "weights 5 GB + 1.2 GB per sample + 2 GB overhead".
struct MemoryLine {
  int64_t base_bytes = 0;
  int64_t per_sample_bytes = 0;
  int64_t overhead_bytes = 0;
  int64_t floor_bytes = 0;
};

// One timing of this training on a known GPU: the anchor that calibrates all others.
struct MeasuredStep {
  std::string gpu;   // any spelling in the catalogue
  int64_t gpus = 1;  // in all
  int64_t micro_batch = 1;
  double seconds_per_step = 0;       // one optimizer step including accumulation; 0: not measured
  int64_t peak_bytes = 0;            // of one GPU's memory; 0: not measured
  int64_t effective_batch_size = 0;  // 0: from the spec's range at this micro-batch
  bool out_of_memory = false;        // ran out of memory with this micro-batch
  std::optional<double> start_seconds = {};  // before the first step; nullopt: not measured
  std::string by = {};                       // "3 of your runs"; "": written by a person
  int64_t nodes = 0;                         // used by the GPUs; 0: unknown
  bool by_others = false;                    // runs of other users: limited influence
};

// Shared by train.yaml and models.yaml: `key: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}`,
// with optional overhead, and
std::optional<MemoryLine> ReadMemoryLine(KeyReader& model, const std::string& key);
// `key: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}, …]`.
std::vector<MeasuredStep> ReadMeasuredSteps(KeyReader& training, const std::string& key);

struct ModelPreset {
  std::string name;
  std::string title;
  std::vector<std::string> hub;  // ids on the Hugging Face Hub
  double params = 0;             // parameters
  std::optional<MemoryLine> memory;
  std::optional<ModelShape> shape;
  std::vector<MeasuredStep> measured;
  bool fp16 = true;  // false: overflows in fp16 (T5 and mT5)
  std::string source;
};

// Family prefix of a name: "llama" for "llama-3.1-8b", "t5" for "t5-base".
std::string FamilyOf(const std::string& name);

class ModelPresets {
 public:
  ModelPresets() = default;
  // Errors name entry and key by JSON pointer.
  static Result<ModelPresets> FromJson(const nlohmann::json& document);

  // By name or Hub id, case-insensitive; nullptr if none.
  const ModelPreset* Find(const std::string& name) const;
  // The preset of which `name` is a variant with the same shape: an -Instruct or -chat version, a
  // copy under another organisation, an older spelling. nullptr if none.
  const ModelPreset* FindForm(const std::string& name) const;
  // As Find(), else as FindForm(); nullptr for "". Errors: kBadInput at `pointer` with the nearest
  // name.
  Result<const ModelPreset*> Require(const std::string& name, const std::string& pointer) const;
  // Grouped by family, each from its smallest model to its largest.
  std::vector<std::string> Names() const;
  // Suggestion for an unknown name: " (did you mean 'llama-3.1-8b'?)"; for another size of the
  // family " (nearest: 'qwen-72b', 72.3 B parameters)"; "" if nothing is near. Always states a very
  // different size.
  std::string NearTo(const std::string& name) const;

 private:
  std::map<std::string, ModelPreset> presets_;
};

}  // namespace gpuadvise
