// What GET /v1/accuracy tells beside its figures: how often each quantile held, how right forecasts
// were week by week, and the newest of them one by one, without whose they were. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/answers.h"
#include "common/local_time.h"

namespace gpuadvise {

/// So many forecasts are told one by one at most.
inline constexpr size_t kToldScores = 400;

/// The range in which a share of all lies with 95 % confidence when `part` of `all` are seen
/// (Wilson's score interval, which holds near 0 and 1 and for few). REQUIRES: 0 <= part <= all > 0.
struct ShareRange {
  double low = 0;
  double high = 1;
};
ShareRange WilsonRange(int64_t part, int64_t all);

/// Adds calibration, weeks and points to an AnswerAccuracy.
void AddScores(const ClusterView& view, const LocalTime& local, nlohmann::json& answer);

}  // namespace gpuadvise
