#include "common/gpu_requirements.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpuadvise {
namespace {

constexpr double kFlashAttention2 = 8.0;  // Ampere
constexpr double kFp8 = 8.9;              // Ada and Hopper

}  // namespace

std::string WhyUnfit(const TrainSpec& spec, const GpuModel& gpu) {
  const RequiresSpec& needs = spec.requires_gpu;
  const auto any_stage = [&](auto asks) {
    return std::any_of(spec.stages.begin(), spec.stages.end(),
                       [&](const Stage& stage) { return asks(stage.training); });
  };
  if (!gpu.bf16 &&
      any_stage([](const TrainingSpec& t) { return t.bf16 == "true" || t.pure_bf16; })) {
    return "bf16 is required and this GPU has none";
  }
  const bool flash = needs.flash_attention_2 || any_stage([](const TrainingSpec& t) {
                       return t.attn_implementation == "flash_attention_2";
                     });
  if (flash && gpu.compute_capability < kFlashAttention2) {
    return fmt::format(
        "FlashAttention-2 needs compute capability 8.0 (Ampere), this GPU has {:.1f}: use "
        "attn_implementation: sdpa",
        gpu.compute_capability);
  }
  if (needs.fp8 && gpu.compute_capability < kFp8) {
    return fmt::format("fp8 needs compute capability 8.9 (Ada, Hopper), this GPU has {:.1f}",
                       gpu.compute_capability);
  }
  const auto& least = needs.min_compute_capability;
  if (least && gpu.compute_capability < *least) {
    return fmt::format("compute capability {:.1f} is below the required {:.1f}",
                       gpu.compute_capability, *least);
  }
  return {};
}

}  // namespace gpuadvise
