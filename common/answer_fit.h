// `gpuadvise fit`: what of a training file fits on which GPU, with how much memory for what.
//
// Pure; everything about the cluster is the caller's to find out. The shape of the answer is in
// docs/models.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "common/error.h"
#include "common/gpu_catalogue.h"
#include "common/model_presets.h"
#include "common/train_spec.h"

namespace gpuadvise {

struct FitQuestion {
  const TrainSpec& spec;
  const ModelPresets& presets;
  const GpuCatalogue& catalogue;
  std::vector<const GpuModel*> gpus;   // a row each
  int64_t gpus_in_all = 1;             // that one job has
  std::optional<int64_t> micro_batch;  // show this one instead of the recommended
  bool tips = false;                   // with all tips, for the first of `gpus`
};

/// Errors: kBadInput, with a pointer into the spec, when nothing says what the model is made of.
Result<nlohmann::json> AnswerFit(const FitQuestion& question);

}  // namespace gpuadvise
