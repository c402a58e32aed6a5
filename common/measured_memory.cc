#include "common/measured_memory.h"

#include <cmath>

#include "common/precision.h"

namespace gpuadvise {

double PeakCorrection(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                      const GpuCatalogue& catalogue) {
  double sum = 0;
  int count = 0;
  for (const MeasuredStep& step : training.measured) {
    const GpuModel* gpu = catalogue.Resolve(step.gpu);
    if (step.peak_bytes == 0 || gpu == nullptr) continue;
    const auto precision = PrecisionOn(*gpu, training, fp16_is_safe);
    if (!precision) continue;
    TrainingSetup setup = SetupFrom(training, *precision, step.gpus);
    setup.micro_batch = step.micro_batch;
    sum += std::log(static_cast<double>(step.peak_bytes) / PeakMemory(model, setup).total());
    ++count;
  }
  return count == 0 ? 1 : std::exp(sum / count);
}

}  // namespace gpuadvise
