// What a partition charges: Slurm's TRESBillingWeights. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/snapshot.h"

namespace gpuadvise {

/// The billing TRES of a job that holds `tres`, by weights as Slurm prints them
/// ("CPU=1.0,Mem=0.25G,GRES/gpu:a100=4"): the sum, or with `largest` (PriorityFlags=MAX_TRES) the
/// largest part. A weight's suffix is the unit that memory is counted in (none: MiB), as in
/// slurm.conf(5). nullopt where there are no weights or a part cannot be read.
std::optional<double> BillingOf(const std::string& weights, const TresCounts& tres, bool largest);

}  // namespace gpuadvise
