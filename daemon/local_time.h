// The wall clock of the machine that the daemon runs on (TZ, /etc/localtime): what GET /v1/history
// and GET /v1/accuracy mean by an hour of the day and a week. Safe from any thread.
#pragma once

#include "common/local_time.h"

namespace gpuadvise {

LocalMoment LocalMomentOf(UnixSeconds time);

}  // namespace gpuadvise
