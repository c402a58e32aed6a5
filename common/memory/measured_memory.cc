#include "common/memory/measured_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "common/base/bytes.h"
#include "common/base/words.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

// Whether a batch measured on `gpu` would not fit there without checkpointing, if the training
// leaves that open. Ignores other users' runs: checkpointing makes the batch larger.
bool NeedsCheckpointing(const GpuModel& gpu, const ModelShape& model, const TrainingSpec& training,
                        Precision precision, const GpuCatalogue& catalogue) {
  if (training.gradient_checkpointing) return false;
  return std::any_of(training.measured.begin(), training.measured.end(),
                     [&](const MeasuredStep& step) {
                       if (step.out_of_memory || step.by_others) return false;
                       if (catalogue.Resolve(step.gpu) != &gpu) return false;
                       TrainingSetup without = SetupFrom(training, precision, step.gpus);
                       without.micro_batch = step.micro_batch;
                       return PeakMemory(model, without).total() > UsableBytes(gpu);
                     });
}

}  // namespace

Result<void> CheckMeasured(const Stage& stage, const GpuCatalogue& catalogue) {
  for (size_t i = 0; i < stage.training.measured.size(); ++i) {
    const MeasuredStep& step = stage.training.measured[i];
    const std::string pointer = fmt::format("{}/training/measured/{}", stage.pointer, i);
    const GpuModel* gpu = catalogue.Resolve(step.gpu);
    if (gpu == nullptr) {
      return BadInput(fmt::format("measured: unknown GPU {}{}; `gpuadvise cards` lists the names",
                                  Quoted(step.gpu), catalogue.NearTo(step.gpu)),
                      pointer + "/gpu");
    }
    if (step.peak_bytes > gpu->memory_bytes) {
      return BadInput(
          fmt::format("measured: a peak of {:.1f} GiB is impossible on a GPU with {:g} GiB",
                      Bytes{step.peak_bytes}.GiB(), gpu->memory_gb),
          pointer + "/peak");
    }
  }
  return {};
}

TrainingSetup SetupGivenMeasured(const GpuModel& gpu, const ModelShape& model,
                                 const TrainingSpec& training, Precision precision, int64_t gpus,
                                 const GpuCatalogue& catalogue) {
  TrainingSetup setup = SetupOn(gpu, model, training, precision, gpus);
  if (NeedsCheckpointing(gpu, model, training, precision, catalogue)) {
    setup.checkpointing = Checkpointing::kFull;
  }
  return setup;
}

MeasuredSetups::MeasuredSetups(const ModelShape& model, const TrainingSpec& training,
                               bool fp16_is_safe, const GpuCatalogue& catalogue)
    : model_(model), training_(training), fp16_is_safe_(fp16_is_safe), catalogue_(catalogue) {}

TrainingSetup MeasuredSetups::Of(const MeasuredStep& step, const GpuModel& gpu) {
  const auto precision = PrecisionOn(gpu, training_, fp16_is_safe_).value_or(Precision::kFp32);
  const auto [known, is_new] = checkpointed_.emplace(&gpu, false);
  if (is_new) known->second = NeedsCheckpointing(gpu, model_, training_, precision, catalogue_);
  TrainingSetup setup = SetupOn(gpu, model_, training_, precision, step.gpus);
  if (known->second) setup.checkpointing = Checkpointing::kFull;
  setup.micro_batch = step.micro_batch;
  return setup;
}

namespace {

// Geometric means of the user's own factors, and of all.
class Factors {
 public:
  void Add(double factor, bool by_others) {
    if (!by_others) own_.Add(factor);
    all_.Add(factor);
  }
  // Others' factors can only increase the own one, by at most kMaxMemoryFactorByOthers.
  double Mean() const {
    const double own = own_.Mean();
    return std::clamp(all_.Mean(), own, own * kMaxMemoryFactorByOthers);
  }

 private:
  static constexpr double kMaxMemoryFactorByOthers = 1.5;

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

bool HasOwnPeak(const TrainingSpec& training) {
  return std::any_of(training.measured.begin(), training.measured.end(),
                     [](const MeasuredStep& step) {
                       return step.peak_bytes > 0 && !step.by_others && !step.out_of_memory;
                     });
}

double PeakCorrection(const ModelShape& model, const TrainingSpec& training, bool fp16_is_safe,
                      const GpuCatalogue& catalogue) {
  Factors factors;
  MeasuredSetups setups(model, training, fp16_is_safe, catalogue);
  for (const MeasuredStep& step : training.measured) {
    const GpuModel* gpu = catalogue.Resolve(step.gpu);
    if (step.peak_bytes == 0 || gpu == nullptr || step.out_of_memory) continue;
    const double counted = PeakMemory(model, setups.Of(step, *gpu)).total();
    factors.Add(static_cast<double>(step.peak_bytes) / counted, step.by_others);
  }
  return factors.Mean();
}

MemoryLine CorrectedLine(const MemoryLine& line, const Stage& stage) {
  Factors factors;
  for (const MeasuredStep& step : stage.training.measured) {
    if (step.peak_bytes == 0 || step.by.empty() || step.out_of_memory) continue;
    const auto counted = static_cast<double>(MemoryOf(line, step.micro_batch));
    factors.Add(static_cast<double>(step.peak_bytes) / counted, step.by_others);
  }
  const double factor = stage.model.memory ? std::max(factors.Mean(), 1.0) : factors.Mean();
  const auto scaled = [factor](int64_t bytes) {
    return std::llround(std::min(static_cast<double>(bytes) * factor, 9e18));
  };
  return {scaled(line.base_bytes), scaled(line.per_sample_bytes), scaled(line.overhead_bytes),
          scaled(line.floor_bytes)};
}

}  // namespace gpuadvise
