// What the dashboard asks of other clusters (docs/api.md, "Other clusters").
#pragma once

#include "daemon/api/request_context.h"

namespace gpuadvise::daemon {

ApiResponse GetClusters(RequestContext& call);
ApiResponse PostClusterAdvise(RequestContext& call);

}  // namespace gpuadvise::daemon
