// What measured peaks say about the memory that is counted for a job. Pure.
#pragma once

#include "common/gpu_catalogue.h"
#include "common/memory_model.h"
#include "common/model_shape.h"
#include "common/train_spec.h"

namespace gpuadvise {

/// Measured peaks over counted ones (geometric mean; 1 where nothing was measured): `measured:
/// [{gpu: rtx4090, batch: 2, peak: 21.3 GiB}]`. What is counted for this job is scaled by it.
double PeakCorrection(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                      const GpuCatalogue& catalogue);

}  // namespace gpuadvise
