// Every key of a train.yaml: where it stands, what may stand there, its unit and default, and what
// is counted with it.
//
// The one table of them. The reader takes the ranges and words from here and refuses every key that
// is not here (key_reader.h), `fit` and `scale` make their options of it, and docs/train-yaml.md is
// this table as a page. Values that live as long as the program; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/training/train_key.h"

namespace gpuadvise {

// In the order of the page: a map before its keys.
std::span<const TrainKey> TrainKeys();
// nullptr where there is no such key.
const TrainKey* FindTrainKey(std::string_view path);
// Of those that stand directly in `section`.
std::vector<const TrainKey*> TrainKeysIn(std::string_view section);

// "a whole number from 1 to 65536", "true, false or auto": what may stand there.
std::string ValueInWords(const TrainKey& key);

}  // namespace gpuadvise
