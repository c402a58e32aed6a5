// What `fit` and `scale` compute with, in the client: a training file, the built-in catalogues, and
// the GPUs to look at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/models/built_in.h"
#include "client/questions/training_settings.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/training/model_presets.h"
#include "common/training/train_spec.h"
#include "yaml/train_file.h"

namespace gpuadvise::client {

struct TrainingSource {
  std::string file;                            // or a model (client/models/named_model.h)
  std::string section = {};                    // "" the whole file
  std::vector<std::string> gpus = {};          // names; empty: those of the cluster
  std::vector<TrainingSetting> settings = {};  // that options give
  std::string hub_cache = {};                  // of the Hugging Face Hub on this machine; "" none
  OwnCatalogues own = {};                      // cards and presets of the user's own
};

// The GPUs that are known without a daemon. Errors: none but a bug in what is built in.
Result<GpuCatalogue> BuiltInCatalogue();

// How the cluster's nodes with some GPU are made; all 0 where nothing is known.
struct NodesOfGpu {
  int64_t gpus_per_node = 0;
  Interconnect interconnect;
};

struct TrainingQuestion {
  // GPUs are those named, else the cluster's where a daemon answers, else the file's allow-list,
  // else usual ones. Errors: sentences that start with the file and its line.
  static Result<TrainingQuestion> Load(const TrainingSource& source, RunLength run_length, Api& api,
                                       int64_t now);

  // The same about `file` as it is, with the GPUs of these names and the cards of `gpus_file` ("":
  // none of the user's own).
  static Result<TrainingQuestion> Of(TrainFile file, ModelPresets presets,
                                     const std::vector<std::string>& names,
                                     const std::string& gpus_file, RunLength run_length, Api& api);

  // `error` with its pointer into the spec told as the file's line.
  Error Placed(const Error& error) const;

  TrainFile file;
  TrainSpec spec;
  ModelPresets presets;
  std::shared_ptr<const GpuCatalogue> catalogue;  // never nullptr; `gpus` point into it
  std::vector<const GpuModel*> gpus;
  std::vector<NodesOfGpu> nodes;       // parallel to gpus
  std::vector<std::string> gpu_notes;  // what names that several GPUs have were taken for
  // For standard error: what gave way, what the model was taken for.
  std::vector<std::string> notes;
};

}  // namespace gpuadvise::client
