// The experiment log (GET /v1/advice): a filter on its jobs, and these as a table, as one line on
// the forecasts, and as CSV.
//
// Forecast and actual values share a cell: "8 m → 12 m". If the table is too wide it loses, in this
// order: COST if nothing has a cost, p90 forecasts, blanks inside cells, long names, the time of
// day, memory forecasts, the effective batch, STEPS, LIMIT, COST, the peak, NAME, LOSS, the batch,
// WAIT. The rest is clipped at the terminal's edge. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/api/experiment.h"

namespace gpuadvise::client {

// The header and one line per job.
std::vector<std::string> JobsTable(const std::vector<api::Experiment>& jobs, int64_t now,
                                   int width);

struct JobsFilter {
  std::string state;             // "pending", "running", "ended", "failed", "ok"; "" all
  std::string gpu;               // part of the GPU's name: "4090", "rtx-4090"
  std::string name;              // part of the job's name, in any case
  std::optional<int64_t> since;  // submitted then or later, unix seconds
  std::optional<int64_t> limit;  // so many of the newest

  // Whether jobs are left out by what they are, not only by how many there are.
  bool Selects() const {
    return !state.empty() || !gpu.empty() || !name.empty() || since.has_value();
  }
};

// Those of `jobs`, a list of GET /v1/advice, that the filter takes, the newest first.
nlohmann::json FilteredJobs(const nlohmann::json& jobs, const JobsFilter& filter);

// How accurate the forecasts of these jobs were:
// "12 jobs · 10 of 11 waited within their p90 · run time median error 6 % of 9 · peak memory 4 % of
// 8". A wait of at most a minute counts as within its p90. Errors are medians of |actual -
// forecast| / forecast over jobs that ended well: one that fails or is cancelled ends early. Parts
// without a job are left out.
std::string JobsRecord(const std::vector<api::Experiment>& jobs);

// The experiment log as CSV (RFC 4180): a header line, a line per job, lines ended by CR LF.
//
// Each member of `jobs`, a list of GET /v1/advice, is a column under its own name, so the names
// keep the units. Text that a spreadsheet would take for a formula (it starts with = + - @) gets an
// apostrophe in front, unless it is a number. Control characters become '?'.
std::string JobsCsv(const nlohmann::json& jobs);

// One cell: quoted where it must be, harmless in a spreadsheet.
std::string CsvCell(std::string_view text);

}  // namespace gpuadvise::client
