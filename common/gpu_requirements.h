// What a training asks of a GPU beside memory: FlashAttention-2, bf16 and fp8 are not everywhere.
// Pure.
#pragma once

#include <string>

#include "common/gpu_catalogue.h"
#include "common/train_spec.h"

namespace gpuadvise {

/// Why no stage of `spec` may run on `gpu` ("FlashAttention-2 needs compute capability 8.0 …"); ""
/// where it may. Sources: FlashAttention's README (Ampere and later), NVIDIA's Transformer Engine
/// (fp8 on Ada, Hopper and later).
std::string WhyUnfit(const TrainSpec& spec, const GpuModel& gpu);

}  // namespace gpuadvise
