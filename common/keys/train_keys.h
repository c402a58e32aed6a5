// All keys of a train.yaml: place, values, unit, default and meaning.
//
// The only table of them. The reader takes ranges and words from it and refuses all other keys
// (key_reader.h), `fit` and `scale` derive options from it, and docs/train-yaml.md is this table as
// a page. Static values; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/keys/train_key.h"

namespace gpuadvise {

// In the order of the page: a map before its keys.
std::span<const TrainKey> TrainKeys();
// nullptr if unknown.
const TrainKey* FindTrainKey(std::string_view path);
// Keys directly in `section`.
std::vector<const TrainKey*> TrainKeysIn(std::string_view section);

// Description of valid values: "a whole number from 1 to 65536", "true, false or auto".
std::string ValueInWords(const TrainKey& key);

}  // namespace gpuadvise
