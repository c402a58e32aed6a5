#include "common/precision.h"

namespace gpuadvise {

Result<std::string> PrecisionOn(const GpuModel& gpu, const TrainingSpec& training,
                                bool fp16_is_safe) {
  if (training.fp16 == "true") return "fp16";
  if (training.bf16 != "false" && gpu.bf16) return "bf16";
  if (training.bf16 == "true") {
    return Fail(ErrorCode::kInfeasible, "bf16 is required and this GPU has none");
  }
  return training.fp16 != "false" && fp16_is_safe ? "fp16" : "fp32";
}

}  // namespace gpuadvise
