// Reads a model's folder, as written by `save_pretrained` and the Hugging Face Hub, as `model` of a
// train.yaml: its config.json and the number of parameters in its weight files. Blocking.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::client {

struct FolderModel {
  nlohmann::json model;  // {"hf_config": {…}, "params": …}
  std::string trouble;   // why parameters could not be counted; "": counted
};

// Errors: config.json is missing or unreadable; the message has the remedy.
Result<FolderModel> ReadModelFolder(const std::string& folder);

// The newest snapshot of `model` ("org/name") with a config.json in the Hub's cache; "": none.
std::string SnapshotInHubCache(const std::string& cache, const std::string& model);

}  // namespace gpuadvise::client
