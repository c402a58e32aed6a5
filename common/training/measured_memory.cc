#include "common/training/measured_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "common/training/stage_needs.h"

namespace gpuadvise {

Result<void> CheckMeasured(const Stage& stage, const GpuCatalogue& catalogue) {
  for (size_t i = 0; i < stage.training.measured.size(); ++i) {
    const MeasuredStep& step = stage.training.measured[i];
    const std::string pointer = fmt::format("{}/training/measured/{}", stage.pointer, i);
    const GpuModel* gpu = catalogue.Resolve(step.gpu);
    if (gpu == nullptr) {
      return BadInput(fmt::format("measured: no GPU called '{}' is known{}; `gpuadvise cards` "
                                  "lists the names",
                                  step.gpu, catalogue.NearTo(step.gpu)),
                      pointer + "/gpu");
    }
    if (step.peak_bytes > gpu->memory_bytes) {
      return BadInput(fmt::format("measured: a peak of {:.1f} GB on a GPU of {:g} GB cannot be",
                                  static_cast<double>(step.peak_bytes) / 1e9, gpu->memory_gb),
                      pointer + "/peak");
    }
  }
  return {};
}

TrainingSetup SetupGivenMeasured(const GpuModel& gpu, const ModelShape& model,
                                 const TrainingSpec& training, Precision precision, int64_t gpus,
                                 const GpuCatalogue& catalogue) {
  TrainingSetup setup = SetupOn(gpu, model, training, precision, gpus, kRecommendedMargin);
  if (training.gradient_checkpointing) return setup;
  for (const MeasuredStep& step : training.measured) {
    if (step.out_of_memory || catalogue.Resolve(step.gpu) != &gpu) continue;
    TrainingSetup without = SetupFrom(training, precision, step.gpus);
    without.micro_batch = step.micro_batch;
    if (PeakMemory(model, without).total() > UsableBytes(gpu)) {
      setup.checkpointing = Checkpointing::kFull;
    }
  }
  return setup;
}

TrainingSetup SetupOfMeasured(const ModelShape& model, const TrainingSpec& training,
                              const MeasuredStep& step, const GpuModel& gpu, bool fp16_is_safe,
                              const GpuCatalogue& catalogue) {
  const auto precision = PrecisionOn(gpu, training, fp16_is_safe);
  TrainingSetup setup = SetupGivenMeasured(
      gpu, model, training, precision.value_or(Precision::kFp32), step.gpus, catalogue);
  setup.micro_batch = step.micro_batch;
  return setup;
}

namespace {

// Geometric means of factors: the user's own, and of all.
class Factors {
 public:
  void Add(double factor, bool by_others) {
    if (!by_others) own_.Add(factor);
    all_.Add(factor);
  }
  // Others' factors only make the own one larger, to kMostByOthers times it.
  double Mean() const {
    const double own = own_.Mean();
    return std::clamp(all_.Mean(), own, own * kMostByOthers);
  }

 private:
  static constexpr double kMostByOthers = 1.5;

  struct Sum {
    double logs = 0;
    int count = 0;
    void Add(double factor) {
      logs += std::log(factor);
      ++count;
    }
    double Mean() const { return count == 0 ? 1 : std::exp(logs / count); }
  };

  Sum own_, all_;
};

}  // namespace

double PeakCorrection(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                      const GpuCatalogue& catalogue) {
  Factors factors;
  for (const MeasuredStep& step : training.measured) {
    const GpuModel* gpu = catalogue.Resolve(step.gpu);
    if (step.peak_bytes == 0 || gpu == nullptr || step.out_of_memory) continue;
    const TrainingSetup setup =
        SetupOfMeasured(model, training, step, *gpu, fp16_is_safe, catalogue);
    const double counted = PeakMemory(model, setup).total();
    factors.Add(static_cast<double>(step.peak_bytes) / counted, step.by_others);
  }
  return factors.Mean();
}

double PeakCorrection(const MemoryLine& line, const TrainingSpec& training, bool own_line) {
  Factors factors;
  for (const MeasuredStep& step : training.measured) {
    if (step.peak_bytes == 0 || step.by.empty() || step.out_of_memory) continue;
    const auto counted = static_cast<double>(MemoryOf(line, step.micro_batch));
    factors.Add(static_cast<double>(step.peak_bytes) / counted, step.by_others);
  }
  return own_line ? std::max(factors.Mean(), 1.0) : factors.Mean();
}

}  // namespace gpuadvise
