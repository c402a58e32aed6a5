// What the memory and run time of a training rest on although its file does not say it.
#pragma once

#include <string>
#include <vector>

#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

struct Assumptions {
  std::vector<std::string> sentences;  // each names the key that settles it, if one does
  // Keys that decide memory or run time and are missing: "training.max_seq_length". A time limit
  // that is chosen without them is a guess.
  std::vector<std::string> unsettled;
};

// The assumptions of all stages of `spec`, each once. A stage with a memory line and a timing rests
// on neither lengths nor images. Stages of a model that is not known have none.
Assumptions FindAssumptions(const TrainSpec& spec, const ModelPresets& presets);

}  // namespace gpuadvise
