// Tips about how one works: what to try first, what to watch, what to check before submitting.
#include <fmt/format.h>

#include "common/tip_rules.h"

namespace gpuadvise {

Tip TryFirstTip(const TipContext& at) {
  Tip tip{.name = "try_first",
          .text =
              "--max_steps 10 first, and raise the micro-batch step by step; "
              "auto_find_batch_size lowers it when memory runs out, but accumulates no more, so "
              "that the effective batch changes"};
  if (at.measured_here) return NotHere(tip, "this training has run on this GPU (measured)");
  return Here(tip, 0);
}

Tip EffectiveBatchTip(const TipContext& at) {
  Tip tip{.name = "effective_batch_size",
          .text = "an effective batch of 8 to 16 learns best",
          .effect = "1 is unstable, 2 to 4 are stable, 32 and more converge badly",
          .source_of_effect = kClaimed};
  if (!at.shape || !at.shape->encoder) {
    return NotHere(tip,
                   "it is said of summarising with T5 and mT5; the guides train other models with "
                   "32 to 512");
  }
  if (!at.effective_batch) return NotHere(tip, "the effective batch is not known");
  const int64_t now = *at.effective_batch;
  if (now >= 8 && now <= 16) return NotHere(tip, fmt::format("it is {}", now));
  tip.text = fmt::format("the effective batch is {}: 8 to 16 are said to learn best", now);
  return Here(tip, 0);
}

Tip HangTip(const TipContext& at) {
  Tip tip{.name = "hang",
          .text =
              "Does it hang without an error? NCCL_DEBUG=INFO shows the network it takes; then "
              "raise its timeout"};
  if (at.gpus() == 1) return NotHere(tip, "one GPU talks to no other");
  return Here(tip, 0);
}

Tip BeforeSubmittingTip(const TipContext&) {
  return Here(
      {.name = "before_submitting",
       .text = "before submitting: the folder of the log must exist (Slurm makes none), the "
               "model must be there or `huggingface-cli login` done, and `quota -s` must "
               "have room"},
      0);
}

}  // namespace gpuadvise
