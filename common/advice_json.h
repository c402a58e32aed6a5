// Advice as the JSON of docs/api.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/advise.h"

namespace gpuadvise {

/// The members of an advise answer but `advice_id` and the frame.
nlohmann::json ToJson(const Advice& advice, const AdviceRequest& request);

/// What every answer with start times says about how they were made.
nlohmann::json ForecastNote(size_t samples);

}  // namespace gpuadvise
