// The keys of a train.yaml that describe networks over pictures, films and sound, and their
// samples. Rows of the one table (train_keys.h).
#pragma once

#include <vector>

#include "common/training/train_key.h"

namespace gpuadvise {

// Below `model`: unet, dit, image_encoder, audio_encoder, convolutions.
std::vector<TrainKey> MediaModelKeys();
// Below `training`: the size of a sample and what is made beforehand.
std::vector<TrainKey> MediaTrainingKeys();

}  // namespace gpuadvise
