// Advice as the JSON of docs/api.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/accuracy.h"
#include "common/advise.h"

namespace gpuadvise {

struct Past;

/// The members of an advise answer but `advice_id` and the frame.
nlohmann::json ToJson(const Advice& advice, const AdviceRequest& request, const Past* past);

/// Figures of a group; null where there is nothing to take them from.
nlohmann::json ToJson(const Accuracy& accuracy);

/// What every answer with start times says about how they were made, and how right such answers
/// have been. `past` null: every job runs to its limit.
nlohmann::json ForecastNote(size_t samples, const Past* past);

}  // namespace gpuadvise
