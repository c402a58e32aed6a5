// Whether the kernel has ended a process of this job because its memory limit was reached.
#pragma once

#include <cstdint>

namespace gpuadvise {

/// Processes of this control group that were ended so far; 0 where that cannot be read.
int64_t KernelKills();

}  // namespace gpuadvise
