// Model presets: what `model: {preset: NAME}` in a train.yaml stands for.
//
// From the JSON form of config/models.yaml; a site's file may add or override entries. Immutable.
// Sizes are bytes (GB = 10^9 in the file).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/training/model_shape.h"

namespace gpuadvise {

// Training memory as a straight line in the micro-batch: base + per_sample × batch + overhead, and
// never less than floor + overhead (the optimizer's step, which no micro-batch makes larger).
// Source: the formula of Isaac-GR00T's team guide, "weights 5 GB + 1.2 GB per sample + 2 GB
// overhead".
struct MemoryLine {
  int64_t base_bytes = 0;
  int64_t per_sample_bytes = 0;
  int64_t overhead_bytes = 0;
  int64_t floor_bytes = 0;
};

// One timing of this training on a known GPU: the anchor that calibrates all others.
struct MeasuredStep {
  std::string gpu;   // any spelling of the catalogue's
  int64_t gpus = 1;  // in all
  int64_t micro_batch = 1;
  double seconds_per_step = 0;  // 0: not measured; of one optimizer step, accumulation included
  int64_t peak_bytes = 0;       // of one GPU's memory; 0: not measured
  int64_t effective_batch_size = 0;          // 0: what the spec's range gives at this micro-batch
  bool out_of_memory = false;                // it ran out with this micro-batch; else it ran
  std::optional<double> start_seconds = {};  // before the first step; nullopt: not measured
  std::string by = {};                       // "3 of your runs"; "": a person wrote it
  int64_t nodes = 0;                         // that the GPUs were on; 0: not said
  bool by_others = false;  // runs of other users: bounded by what is known without
};

// What train.yaml and models.yaml share: `key: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}`,
// of which overhead may be left out, and
std::optional<MemoryLine> ReadMemoryLine(KeyReader& model, const std::string& key);
// `key: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}, …]`.
std::vector<MeasuredStep> ReadMeasuredSteps(KeyReader& training, const std::string& key);

struct ModelPreset {
  std::string name;
  std::string title;
  std::vector<std::string> hub;  // its ids on the Hugging Face Hub
  double params = 0;             // parameters
  std::optional<MemoryLine> memory;
  std::optional<ModelShape> shape;
  std::vector<MeasuredStep> measured;
  bool fp16 = true;  // false: overflows in fp16 (T5 and mT5)
  std::string source;
};

// "llama" for "llama-3.1-8b", "t5" for "t5-base": the letters that a name begins with.
std::string FamilyOf(const std::string& name);

class ModelPresets {
 public:
  ModelPresets() = default;
  // Errors name entry and key by JSON pointer.
  static Result<ModelPresets> FromJson(const nlohmann::json& document);

  // By its name or one of its ids on the Hub, upper or lower case; nullptr for none.
  const ModelPreset* Find(const std::string& name) const;
  // That of which `name` is another form: an -Instruct or -chat version, a copy under another
  // organisation, an older spelling. They have its shape. nullptr for none.
  const ModelPreset* FindForm(const std::string& name) const;
  // The same; nullptr for "". Errors: kBadInput at `pointer` with the nearest name.
  Result<const ModelPreset*> Require(const std::string& name, const std::string& pointer) const;
  // Families together, each from its smallest model to its largest.
  std::vector<std::string> Names() const;
  // " (did you mean 'llama-3.1-8b'?)", of another size of the same family " (nearest: 'qwen-72b',
  // 72.3 B parameters)"; "" where nothing is near. Never a model of quite another size without it.
  std::string NearTo(const std::string& name) const;

 private:
  std::map<std::string, ModelPreset> presets_;
};

}  // namespace gpuadvise
