// Tips that make each step faster.
#include <fmt/format.h>

#include "common/tip_rules.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

// A run this long repays the minutes that torch.compile takes at its start.
constexpr double kWorthCompiling = 2 * 3600;

constexpr double kVolta = 7.0;   // tensor cores, and the least that torch.compile builds for
constexpr double kAmpere = 8.0;  // bf16 and FlashAttention-2

/// Unknown cards are taken for new ones.
bool IsOlderThan(const GpuModel& gpu, double capability) {
  return gpu.compute_capability > 0 && gpu.compute_capability < capability;
}

Tip InsteadOfFp16(const TipContext& at, Tip tip) {
  const bool overflows = at.fp16_is_safe && !*at.fp16_is_safe;
  if (at.gpu.bf16) {
    tip.text = overflows ? "bf16: true instead of fp16, in which this model overflows"
                         : "bf16: true instead of fp16: as fast, and without a GradScaler";
    tip.effect = tip.source_of_effect = "";
    return Here(tip, overflows ? .9 : 0);
  }
  if (!overflows) return NotHere(tip, "fp16 is in use already, and this GPU has no bf16");
  tip.text =
      "this model overflows in fp16 and the GPU has no bf16: fp32 (bf16: false, fp16: false)";
  tip.effect = tip.source_of_effect = "";
  return Here(tip, .9);
}

/// Whether only transformers are trained like this; cuDNN's search is for convolutions.
bool IsTransformer(const TipContext& at) {
  return at.shape != nullptr || at.training().max_seq_length || at.training().method != "full";
}

}  // namespace

Tip HalfPrecisionTip(const TipContext& at) {
  Tip tip{.name = "half_precision",
          .text = at.gpu.bf16 ? "bf16: true instead of fp32"
                              : "fp16: true with a GradScaler instead of fp32 (no bf16 here)",
          .effect = "+15 to +25 % speed, -25 to -40 % memory; another guide: twice the speed",
          .source_of_effect = kClaimed};
  const bool overflows = at.fp16_is_safe && !*at.fp16_is_safe;
  if (at.precision == "bf16") return NotHere(tip, "bf16 is in use already");
  if (at.precision == "fp16") return InsteadOfFp16(at, tip);
  if (!at.gpu.bf16 && overflows) {
    return NotHere(tip, "the model overflows in fp16 and the GPU has no bf16: fp32 it stays");
  }
  if (at.precision.empty()) return NotHere(tip, "the number format is not known");
  if (IsOlderThan(at.gpu, kVolta)) {
    return NotHere(tip, "this GPU has no tensor cores: fp16 saves memory here, but no time");
  }
  if (!at.gpu.bf16 && !at.fp16_is_safe) tip.text += "; not with T5 and mT5, which overflow";
  const std::string to = at.gpu.bf16 ? "bf16" : "fp16";
  return Here(WithSaving(tip, at, [&](TrainingSetup& setup) { setup.precision = to; }), .5);
}

Tip GradScalerTip(const TipContext& at) {
  Tip tip{.name = "grad_scaler",
          .text = "fp16 needs a GradScaler, or small gradients vanish (fp16: true brings one)"};
  if (at.precision == "fp16") return Here(tip, 0);
  if (at.precision == "bf16") return NotHere(tip, "bf16 has the range of fp32: leave it out");
  return NotHere(tip, "it is for fp16 only");
}

Tip TorchCompileTip(const TipContext& at) {
  Tip tip{.name = "torch_compile",
          .text = "torch_compile: true, where all samples have one shape; slow to start",
          .effect = "+30 to +40 % speed, +10 to +20 % with max-autotune",
          .source_of_effect = kClaimed};
  const std::optional<bool>& asked = at.training().torch_compile;
  if (asked) return NotHere(tip, *asked ? "it is on already" : "the file turns it off");
  if (IsOlderThan(at.gpu, kVolta)) return NotHere(tip, "it needs Volta or later");
  if (!at.run_seconds) {
    return NotHere(tip,
                   "it pays only in runs of over 2 h, and nothing says how long this one is "
                   "(training.measured would)");
  }
  if (*at.run_seconds < kWorthCompiling) {
    return NotHere(tip, fmt::format("the run takes {}, and minutes of warm-up pay over 2 h only",
                                    DurationInWords(*at.run_seconds)));
  }
  return Here(tip, .1);
}

Tip FlashAttentionTip(const TipContext& at) {
  Tip tip{.name = "flash_attention_2", .text = "attn_implementation: flash_attention_2"};
  const TrainingSpec& training = at.training();
  if (IsOlderThan(at.gpu, kAmpere)) {
    return NotHere(tip, "it needs Ampere or later: attn_implementation: sdpa");
  }
  if (at.precision == "fp32") return NotHere(tip, "it needs bf16 or fp16");
  if (training.attn_implementation == "flash_attention_2" ||
      at.spec.requires_gpu.flash_attention_2) {
    return NotHere(tip, "it is in use already");
  }
  if (training.attn_implementation != "eager") {
    return NotHere(tip, "sdpa, the usual choice, has the same kernels since PyTorch 2.2");
  }
  tip.text += " instead of eager, which keeps a score for each two tokens";
  const auto flash = [](TrainingSetup& setup) { setup.flash_attention = true; };
  return Here(WithSaving(tip, at, flash), .2);
}

Tip CudnnBenchmarkTip(const TipContext& at) {
  Tip tip{.name = "cudnn_benchmark",
          .text =
              "Is it a convolutional model with inputs of one size? Then "
              "torch.backends.cudnn.benchmark = True; runs are not reproducible with it",
          .effect = "+20 to +30 % speed",
          .source_of_effect = kClaimed};
  if (IsTransformer(at)) {
    return NotHere(tip,
                   "a transformer has no convolutions to tune; it is for convolutional models "
                   "with inputs of one size, and makes runs not reproducible");
  }
  return Here(tip, 0);
}

Tip GpuUseTip(const TipContext&) {
  Tip tip{.name = "gpu_use",
          .text =
              "Is the GPU busy less than 80 % of the time (nvidia-smi inside the job)? Then a "
              "larger micro-batch or more loader workers, else a profile"};
  return Here(tip, 0);
}

}  // namespace gpuadvise
