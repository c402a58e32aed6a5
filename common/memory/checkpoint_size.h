// Size of one checkpoint of a stage on disk.
//
// As written by Hugging Face's Trainer: the weights as held in memory (4 bytes per parameter, 2 in
// pure bf16 and with DeepSpeed in half precision; for LoRA only the adapters, in fp32), plus
// optimizer states and master weights of all trained parameters (Rajbhandari et al. 2020: 12 bytes
// for Adam in mixed precision). A full fine-tuning of Llama 2 7B gives 81 GB, with DeepSpeed 94 GB.
// Counted from the model's shape, or from its parameters if it is fully trained. A model known only
// by a memory line gives none: its trained and saved parts are unknown. Omits small files
// (scheduler, random states, tokenizer). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

struct CheckpointSize {
  int64_t bytes = 0;
  double parameters = 0;    // saved ones
  double weight_bytes = 0;  // per parameter
  double state_bytes = 0;   // per parameter
};

// `precision`: the strategy's; `preset`: the stage's, or nullptr.
std::optional<CheckpointSize> ComputeCheckpointSize(const Stage& stage, const ModelPreset* preset,
                                                    Precision precision);

// "weights 4 and optimizer 8 bytes for each of 6.7 B parameters".
std::string InWords(const CheckpointSize& size);

}  // namespace gpuadvise
