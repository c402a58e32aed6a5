// Whether resubmitting a waiting job with another strategy is worthwhile.
//
// "Clearly better" justifies giving up a place in the queue: the median end is earlier by more than
// 10 % and 10 minutes, and the 90th percentile is no later. Times are seconds from now. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/api/advice.h"
#include "common/api/experiment.h"

namespace gpuadvise::client {

struct ExpectedEnd {
  double p50_seconds = 0;
  double p90_seconds = 0;
};

// End of a waiting job: quantiles of the sum of `wait`, its wait as forecast now, and the run time
// predicted at submission, assumed independent. nullopt: either is unknown.
std::optional<ExpectedEnd> ForecastEnd(const api::Seconds& wait, const api::Experiment& job);

// The best strategy of `advice` that is clearly better than the job's own and, for the objective
// cost, not more expensive. nullptr: none.
const api::Strategy* ClearlyBetter(const api::Advice& advice, const api::Experiment& job,
                                   const ExpectedEnd& own);

// "L40S × 6 is now better: done today 18:05 (20:10), 3 h 20 before this job:
// scancel 123 && gpuadvise submit FILE -p gpu --gres gpu:l40s:6".
std::string BetterSentence(const api::Strategy& strategy, const api::Experiment& job,
                           const ExpectedEnd& own, int64_t now);

}  // namespace gpuadvise::client
