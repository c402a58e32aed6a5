#include "common/precision.h"

namespace gpuadvise {

Result<std::string> PrecisionOn(const GpuModel& gpu, const TrainingSpec& training,
                                bool fp16_is_safe) {
  if (training.fp16 == "true") return "fp16";
  if (training.bf16 != "false" && gpu.bf16) return "bf16";
  if (training.bf16 == "false" && training.fp16 == "false") return "fp32";
  if (training.fp16 != "false" && fp16_is_safe) return "fp16";
  return Fail(ErrorCode::kInfeasible, "this GPU has no bf16 and the model overflows in fp16");
}

}  // namespace gpuadvise
