#include "common/memory/checkpoint_size.h"

#include <fmt/format.h>

#include <cmath>

#include "common/memory/memory_model.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

// Parameters in a checkpoint; 0: unknown.
double SavedParameters(const Stage& stage, const ModelPreset* preset, const KnownModel& known,
                       const TrainingSetup& setup) {
  if (known.shape != nullptr) {
    // A frozen tower is saved with full weights, not with adapters.
    return setup.method == Method::kFull ? known.shape->Parameters()
                                         : TrainedParameters(*known.shape, setup);
  }
  if (known.line != nullptr || setup.method != Method::kFull) return 0;
  if (stage.model.params) return *stage.model.params;
  return preset == nullptr ? 0 : preset->params;
}

double TrainedShare(const KnownModel& known, const TrainingSetup& setup) {
  if (known.shape == nullptr || setup.method != Method::kFull) return 1;
  return TrainedParameters(*known.shape, setup) / known.shape->Parameters();
}

double WeightBytes(const TrainingSetup& setup) {
  const bool half =
      setup.deepspeed && setup.method == Method::kFull && setup.precision != Precision::kFp32;
  return setup.pure_half || half ? 2 : 4;
}

}  // namespace

std::optional<CheckpointSize> ComputeCheckpointSize(const Stage& stage, const ModelPreset* preset,
                                                    Precision precision) {
  const TrainingSetup setup = SetupFrom(stage.training, precision, 1);
  const Result<KnownModel> known = FindKnownModel(stage.model, preset);
  if (!known) return {};
  CheckpointSize size;
  size.parameters = SavedParameters(stage, preset, *known, setup);
  if (size.parameters <= 0) return {};
  size.weight_bytes = WeightBytes(setup);
  size.state_bytes = StateBytesPerParameter(setup) * TrainedShare(*known, setup);
  size.bytes =
      std::llround(std::min(size.parameters * (size.weight_bytes + size.state_bytes), 4e18));
  return size;
}

std::string InWords(const CheckpointSize& size) {
  const std::string parameters = size.parameters >= 1e9
                                     ? fmt::format("{:.1f} B", size.parameters / 1e9)
                                     : fmt::format("{:.0f} M", size.parameters / 1e6);
  return fmt::format("weights {:g} and optimizer {:.3g} bytes for each of {} parameters",
                     size.weight_bytes, size.state_bytes, parameters);
}

}  // namespace gpuadvise
