// Questions that are computed from the request's body: where, when and how to run a job.
#pragma once

#include "daemon/api_call.h"

namespace gpuadvise {

ApiResponse Advise(Call& call);
ApiResponse When(Call& call);
ApiResponse Select(Call& call);
ApiResponse Fit(Call& call);
ApiResponse Scale(Call& call);

}  // namespace gpuadvise
