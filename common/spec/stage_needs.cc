#include "common/spec/stage_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpuadvise {
namespace {

constexpr double kFlashAttention2 = 8.0;  // Ampere
constexpr double kFp8 = 8.9;              // Ada and Hopper

// Of somebody who outlives the answer.
std::shared_ptr<const ModelShape> NotOwned(const ModelShape& shape) {
  return {std::shared_ptr<void>(), &shape};
}

// Made to agree with the parameters that the file gives.
std::shared_ptr<const ModelShape> Owned(ModelShape shape, std::optional<double> params) {
  std::vector<std::string> known_to_whoever_wrote_it;
  if (params) MatchParameters(*params, shape, known_to_whoever_wrote_it);
  return std::make_shared<const ModelShape>(std::move(shape));
}

// The preset's shape with the keys that stand beside it.
Result<ModelShape> Changed(const nlohmann::json& keys, const ModelPreset& preset) {
  DocumentErrors errors;
  KeyReader reader(FieldReader(keys, "/model", &errors), "model");
  const std::optional<ModelShape> shape =
      ReadModelShape(reader, preset.shape ? &*preset.shape : nullptr);
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  if (shape) return *shape;
  return BadInput(
      fmt::format("the preset {} has no shape that these keys could change: give hidden_size and "
                  "num_hidden_layers too, or leave the keys of the shape out",
                  preset.name),
      "/model/preset");
}

}  // namespace

Result<KnownModel> FindKnownModel(const ModelSpec& model, const ModelPreset* preset) {
  KnownModel known;
  if (preset != nullptr) known.fp16_is_safe = preset->fp16;
  if (model.shape) {
    known.shape = NotOwned(*model.shape);
    known.changed = true;
  } else if (preset != nullptr && model.beside_preset != nullptr) {
    Result<ModelShape> shape = Changed(*model.beside_preset, *preset);
    if (!shape) return tl::unexpected<Error>(std::move(shape.error()));
    known.shape = Owned(*std::move(shape), model.params);
    known.changed = true;
  } else if (preset != nullptr) {
    if (preset->shape && model.params) {
      known.shape = Owned(*preset->shape, model.params);
    } else if (preset->shape) {
      known.shape = NotOwned(*preset->shape);
    }
    if (preset->memory) known.line = &*preset->memory;
  }
  if (model.memory) known.line = &*model.memory;
  return known;
}

Result<Precision> PrecisionOn(const GpuModel& gpu, const TrainingSpec& training,
                              bool fp16_is_safe) {
  if (training.fp16 == true) return Precision::kFp16;
  if (training.bf16 != false && gpu.bf16) return Precision::kBf16;
  if (training.bf16 == true) {
    return Fail(ErrorCode::kInfeasible, "bf16 is required and this GPU has none");
  }
  return training.fp16 != false && fp16_is_safe ? Precision::kFp16 : Precision::kFp32;
}

std::string WhyUnfit(const TrainSpec& spec, const GpuModel& gpu) {
  const RequiresSpec& needs = spec.requires_gpu;
  const auto any_stage = [&](auto asks) {
    return std::any_of(spec.stages.begin(), spec.stages.end(),
                       [&](const Stage& stage) { return asks(stage.training); });
  };
  if (!gpu.bf16 && any_stage([](const TrainingSpec& t) { return t.bf16 == true || t.pure_bf16; })) {
    return "bf16 is required and this GPU has none";
  }
  const bool flash = needs.flash_attention_2 || any_stage([](const TrainingSpec& t) {
                       return t.attn_implementation == Attention::kFlashAttention2;
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
