// Resolves the argument FILE of a command: a training file, or a model by its name or folder.
//
// In this order: "-" (standard input), a file, a folder with a config.json, a preset by its name or
// id on the Hub, a model in the Hub's cache on this machine, a preset by another form of its name.
// Does not use the network. Blocking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/models/model_presets.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::client {

struct NamedTraining {
  TrainFile file;
  bool is_file = true;             // false: only a model is given
  std::vector<std::string> notes;  // sentences on a non-obvious interpretation
};

struct NamedModelPlaces {
  const ModelPresets& presets;
  std::string hub_cache;  // "": none
};

// Error messages name the word and similar names.
Result<NamedTraining> FindTraining(const std::string& word, const std::string& section,
                                   const NamedModelPlaces& places, int64_t now);

}  // namespace gpuadvise::client
