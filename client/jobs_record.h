// How right the forecasts of the shown jobs were, in one line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gpuadvise {

/// "12 jobs · wait p90 held for 10 of 11 · run time median error 6 % of 9 · peak memory 4 % of 8".
/// A wait within a minute of its p90 held. Errors are medians of |real - forecast| / real over jobs
/// that ended well: one that fails or is cancelled ends early. Parts of no job are left out.
std::string JobsRecord(const nlohmann::json& jobs);

}  // namespace gpuadvise
