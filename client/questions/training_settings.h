// Options of `fit` and `scale` that add to or override keys of a training file. The table of keys
// (common/keys/train_keys.h) defines them; values are written as in the file.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::client {

struct TrainingSetting {
  std::string key;     // "training.max_seq_length"
  std::string option;  // as given: "--seq"
  std::string text;    // "4096"
};

// Sets them in `file`; later ones override earlier ones. Returns a sentence for each overridden
// value. Errors: an unreadable file named by a value.
Result<std::vector<std::string>> ApplySettings(const std::vector<TrainingSetting>& settings,
                                               TrainFile& file);

}  // namespace gpuadvise::client
