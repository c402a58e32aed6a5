// How a training is sharded and what of it lies in the host's memory, from the words of
// Transformers, PyTorch and DeepSpeed.
#pragma once

#include "common/keys/key_reader.h"
#include "common/spec/training_spec.h"

namespace gpuadvise {

// Reads `deepspeed`, `fsdp` with the keys around it, and `offload` of the section `training` into
// `training`; also the optimizer and the checkpointing that a DeepSpeed or FSDP configuration turns
// on, where the section does not say them. REQUIRES: `optim` and `gradient_checkpointing` have been
// read. Contradictions are noted as errors.
void ReadSharding(KeyReader& reader, TrainingSpec& training);

}  // namespace gpuadvise
