// The client's built-in catalogues of models and GPUs, overridden by a user's own files in the
// format of models.yaml and gpus.yaml.
#pragma once

#include <string>

#include "common/api/gpus.h"
#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/models/model_presets.h"

namespace gpuadvise::client {

// Paths of a user's own catalogues; "": none.
struct OwnCatalogues {
  std::string gpus_file;
  std::string models_file;
};

// The built-in presets, overridden by those of `models_file` ("": none). Errors: in that file, with
// the line.
Result<ModelPresets> KnownPresets(const std::string& models_file);

// The built-in cards, overridden by the cluster's (none without a daemon) and then by those of
// `gpus_file` ("": none). If the daemon's cannot be read, sets `trouble` to the reason. Errors: in
// the file, with the line.
Result<GpuCatalogue> KnownCards(const api::Gpus& of_cluster, const std::string& gpus_file,
                                std::string* trouble);

}  // namespace gpuadvise::client
