// Counts a model's parameters from the headers of its safetensors files; never reads the weights.
//
// A file consists of 8 bytes of header length (little-endian), a JSON header with each tensor's
// dtype and shape, and the tensors (https://github.com/huggingface/safetensors#format). Blocking.
#pragma once

#include <optional>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::client {

struct WeightCount {
  double parameters = 0;
  bool packed = false;  // integers hold several weights each: the count is meaningless
};

// Counts one file. Errors: kNotFound, kBadInput, with the file and the remedy.
Result<WeightCount> CountSafetensors(const std::string& path);

// Counts a folder: the shards in model.safetensors.index.json, else model.safetensors; nullopt if
// there is neither. Errors: those of its files; a missing shard.
Result<std::optional<WeightCount>> CountWeights(const std::string& folder);

}  // namespace gpuadvise::client
