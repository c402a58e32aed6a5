// What a job would wait now, and how accurate such forecasts have been, as metric families.
//
// Asks the forecast as GET /v1/waits does, for a caller without a name: seconds on a large cluster,
// so never on a thread that answers. Pure.
#pragma once

#include "common/advise/advice_context.h"
#include "daemon/metrics/gauges.h"

namespace gpuadvise::daemon {

// Where the budget of `context` stops the waits, their family is empty.
MetricFamilies ForecastMetrics(const AdviceContext& context, const Submitter& anybody);

}  // namespace gpuadvise::daemon
