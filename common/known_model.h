// What is known of a stage's model, from its own section and from its preset. Pure.
#pragma once

#include "common/model_presets.h"
#include "common/train_spec.h"

namespace gpuadvise {

/// Pointers into the spec and the preset.
struct KnownModel {
  const MemoryLine* line = nullptr;   // memory as somebody saw it: goes before what is counted
  const ModelShape* shape = nullptr;  // also where there is a line
  bool fp16_is_safe = true;

  /// What memory is counted from; nullptr where a line says it, or nothing does.
  const ModelShape* counted() const { return line == nullptr ? shape : nullptr; }
};

/// What `model` says goes before `preset` (nullptr: none): a shape of its own also before the
/// preset's line.
KnownModel KnownModelOf(const ModelSpec& model, const ModelPreset* preset);

}  // namespace gpuadvise
