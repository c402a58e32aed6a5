// The experiment log as columns, made narrower step by step until it fits.
//
// Forecast and real stand in one cell, "8 m → 12 m". Order of sacrifice: COST where there is none,
// the late forecasts, blanks inside cells, long names, the time of day, forecasts of memory, the
// effective batch, COST, STEPS, the peak, NAME, LOSS, the batch, WAIT. What is left is clipped at
// the terminal's edge. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpuadvise {

/// The header and one line per job. `jobs` is a list of GET /v1/advice's jobs.
std::vector<std::string> JobsTable(const nlohmann::json& jobs, int64_t now, int width);

}  // namespace gpuadvise
