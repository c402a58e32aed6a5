// What a standby asks the first daemon (docs/api.md, "Standby"): whether it lives, a copy of its
// history, and to take back what was seen while it was away.
//
// Everybody's rows are in a history: only root and the daemon's own user get it, as the kernel says
// who asks. Over TCP the routes are not there.
#pragma once

#include "daemon/api/request_context.h"

namespace gpuadvise::daemon {

ApiResponse GetStandby(RequestContext& call);
ApiResponse PostStandbyCopy(RequestContext& call);
ApiResponse GetStandbyCopy(RequestContext& call);
ApiResponse PostStandbyRows(RequestContext& call);

}  // namespace gpuadvise::daemon
