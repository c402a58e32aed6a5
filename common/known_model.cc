#include "common/known_model.h"

namespace gpuadvise {

KnownModel KnownModelOf(const ModelSpec& model, const ModelPreset* preset) {
  KnownModel known;
  if (preset != nullptr) {
    known.fp16_is_safe = preset->fp16;
    if (preset->shape) known.shape = &*preset->shape;
    if (preset->memory && !model.shape) known.line = &*preset->memory;
  }
  if (model.shape) known.shape = &*model.shape;
  if (model.memory) known.line = &*model.memory;
  return known;
}

}  // namespace gpuadvise
