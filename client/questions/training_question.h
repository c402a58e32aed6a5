// The inputs of `fit` and `scale` in the client: a training file, the built-in catalogues and the
// GPUs to consider.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/models/built_in.h"
#include "client/questions/training_settings.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::client {

struct TrainingSource {
  std::string file;                            // or a model (client/models/named_model.h)
  std::string section = {};                    // "": the whole file
  std::vector<std::string> gpus = {};          // names; empty: those of the cluster
  std::vector<TrainingSetting> settings = {};  // from options
  std::string hub_cache = {};                  // of the Hugging Face Hub on this machine; "": none
  OwnCatalogues own = {};                      // the user's cards and presets
  std::optional<TrainFile> training = {};      // in place of the file
};

// The GPUs known without a daemon. Errors: only if a built-in file is invalid.
Result<GpuCatalogue> BuiltInCatalogue();

// The cluster's nodes with a GPU type; all 0: unknown.
struct NodesOfGpu {
  int64_t gpus_per_node = 0;
  Interconnect interconnect;
};

struct TrainingQuestion {
  // GPUs: those named, else the cluster's if a daemon answers, else the file's allow-list, else
  // common ones. Error messages start with the file and its line.
  static Result<TrainingQuestion> Load(const TrainingSource& source, RunLength run_length, Api& api,
                                       int64_t now);

  // As Load, for `file` as given, with the GPUs `names` and the user's cards in `gpus_file` ("":
  // none).
  static Result<TrainingQuestion> Of(TrainFile file, ModelPresets presets,
                                     const std::vector<std::string>& names,
                                     const std::string& gpus_file, RunLength run_length, Api& api);

  // `error` with its pointer into the spec translated to the file's line.
  Error Placed(const Error& error) const;

  TrainFile file;
  TrainSpec spec;
  ModelPresets presets;
  std::shared_ptr<const GpuCatalogue> catalogue;  // never nullptr; `gpus` point into it
  std::vector<const GpuModel*> gpus;
  std::vector<NodesOfGpu> nodes;       // parallel to gpus
  std::vector<std::string> gpu_notes;  // interpretations of ambiguous GPU names
  // For standard error: overridden values, the interpretation of the model.
  std::vector<std::string> notes;
};

}  // namespace gpuadvise::client
