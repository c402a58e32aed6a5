// What is known of a stage's model, and what the stage asks of a GPU beside memory: a number
// format, FlashAttention-2, fp8. Pure.
#pragma once

#include <memory>
#include <string>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/models/model_presets.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

struct KnownModel {
  const MemoryLine* line = nullptr;  // memory as somebody saw it: goes before what is counted
  std::shared_ptr<const ModelShape> shape;  // also where there is a line; nullptr: not known
  bool fp16_is_safe = true;
  // The shape is not the preset's: neither its timings nor its parameters say anything of it.
  bool changed = false;

  // What memory is counted from; nullptr where a line says it, or nothing does.
  const ModelShape* counted() const { return line == nullptr ? shape.get() : nullptr; }
};

// What `model` says goes before `preset` (nullptr: none): a shape of its own, or keys of one beside
// the preset, also before the preset's line. Points into both. Errors: kBadInput with a pointer
// below the stage ("/model/head_dim") where the keys contradict the preset's, or say too little of
// a preset that has no shape.
Result<KnownModel> FindKnownModel(const ModelSpec& model, const ModelPreset* preset);

// bf16 where the GPU has it and the spec does not say otherwise, else fp16 where the model bears it
// (`fp16_is_safe`; T5 overflows), else fp32. Errors: kInfeasible where bf16 is required and the GPU
// has none.
Result<Precision> PrecisionOn(const GpuModel& gpu, const TrainingSpec& training, bool fp16_is_safe);

// Why no stage of `spec` may run on `gpu` ("FlashAttention-2 needs compute capability 8.0 …"); ""
// where it may. Sources: FlashAttention's README (Ampere and later), NVIDIA's Transformer Engine
// (fp8 on Ada, Hopper and later).
std::string WhyUnfit(const TrainSpec& spec, const GpuModel& gpu);

}  // namespace gpuadvise
