// Explains Slurm's pending reasons: what each means and what clears it.
//
// Covers every job_state_reason (20.11 to 26.05). Limits are explained by their parts
// ("QOSMaxGRESPerUser": a QOS limits GRES per user). Pure.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise {

struct ReasonExplanation {
  std::string meaning;  // "its QOS lets each user have only so many GPUs at a time"
  std::string clears;   // what ends it: "when jobs of the same user end"; "": nothing
};

// `reason` as in squeue, possibly with details after a comma. Unknown words are returned as Slurm's
// own.
ReasonExplanation ExplainPendingReason(std::string_view reason);

}  // namespace gpuadvise
