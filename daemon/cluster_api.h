// What is asked of the cluster as it is: GPUs, waits, nodes, queue, jobs, the past, and the daemon
// itself.
#pragma once

#include "daemon/api_call.h"

namespace gpuadvise {

ApiResponse Gpus(Call& call);
ApiResponse Waits(Call& call);
ApiResponse Nodes(Call& call);
ApiResponse Queue(Call& call);
ApiResponse Why(Call& call);
ApiResponse PastOfGpus(Call& call);
ApiResponse AccuracyOfStarts(Call& call);
ApiResponse Events(Call& call);
ApiResponse Health(Call& call);

}  // namespace gpuadvise
