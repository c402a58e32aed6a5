// The section `training` of a train.yaml, read into a TrainingSpec.
#pragma once

#include "common/keys/key_reader.h"
#include "common/spec/training_spec.h"

namespace gpuadvise {

inline constexpr NamedValue<Method> kMethods[] = {{"full", Method::kFull},
                                                  {"lora", Method::kLora},
                                                  {"dora", Method::kDora},
                                                  {"qlora", Method::kQlora}};

// Errors are noted by the reader.
TrainingSpec ReadTraining(KeyReader reader, RunLength run_length);

}  // namespace gpuadvise
