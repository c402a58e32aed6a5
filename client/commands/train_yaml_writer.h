// Writing a train.yaml for a person to go on with.
#pragma once

#include <string>

#include "common/api/gpus.h"

namespace gpuadvise::client {

// A commented train.yaml that lists the GPUs of `cluster`.
std::string ExampleTrainYaml(const api::Gpus& cluster);

}  // namespace gpuadvise::client
