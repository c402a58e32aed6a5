// The catalogues that the client carries with it, presets of models and GPUs, and a user's own
// files over them, which have the form of config/models.yaml and config/gpus.yaml.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/training/model_presets.h"

namespace gpuadvise::client {

// Paths of a user's own catalogues; "" none.
struct OwnCatalogues {
  std::string gpus_file;
  std::string models_file;
};

// The built-in presets, with those of `models_file` ("" none) over them. Errors: of that file, with
// its line.
Result<ModelPresets> KnownPresets(const std::string& models_file);

// The built-in cards, with what a daemon says of the cluster's own (the answer of GET /v1/gpus, {}
// without one) over them, and those of `gpus_file` ("" none) over both. What of the daemon's cannot
// be read is said in `trouble`. Errors: of the file, with its line.
Result<GpuCatalogue> KnownCards(const nlohmann::json& of_cluster, const std::string& gpus_file,
                                std::string* trouble);

}  // namespace gpuadvise::client
