// One job of the experiment log (GET /v1/advice) in words: what its table, its page and `watch`
// share.
//
// Members of a job may be missing or absurd: a figure that cannot be true counts as missing. Pure
// functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/api/experiment.h"
#include "common/runs/outcome.h"

namespace gpuadvise::client {

// The jobs of an answer of GET /v1/advice. All text is printable but `output_dir`, whose bytes are
// kept: it names a folder.
std::vector<api::Experiment> ReadExperiments(const nlohmann::json& answer);

// Figures that no job can have are not known: seconds from 0 to three centuries, Unix times from 0
// to the end of the year 9999, bytes above 0, counts from 1 to a million million.
std::optional<double> KnownSeconds(std::optional<double> seconds);
std::optional<int64_t> KnownTime(std::optional<int64_t> time);
std::optional<int64_t> KnownBytes(std::optional<int64_t> bytes);
std::optional<int64_t> KnownCount(std::optional<int64_t> count);

// Micro-batch, accumulation and GPUs at the end of the job, after retries:
// "5 × 6 × 4 = 120", without blanks "5×6×4=120", "" if not known.
std::string BatchWords(const api::Experiment& job, bool spaced);

bool HasEnded(const api::Experiment& job);
// Ended with a status or signal of failure.
bool HasFailed(const api::Experiment& job);
// "pending", "running", "ok", "exit 1", "signal 9", "out of memory", "ended" (nobody knows how).
std::string StateWords(const api::Experiment& job);
// What to do about how it ended; "" where nothing is to be done.
std::string NextStep(const api::Experiment& job);

// "RTX 4090 × 4", "L40S × 6 × 2 nodes", "–" without a GPU.
std::string GpusWords(const api::Experiment& job);

// A forecast in the words of `range` (WaitRange, DurationRange), only its median without a `p90`;
// "" without a median.
std::string ForecastWords(std::optional<int64_t> p50, std::optional<int64_t> p90,
                          std::string (*range)(double, double));
// (actual - forecast) / forecast. REQUIRES: forecast > 0.
double RelativeError(double forecast, double actual);
// Whether the job waited no longer than its p90, or started at once; nullopt if either is not
// known.
std::optional<bool> WaitHeld(const api::Experiment& job);

// GiB with three digits: "19.1", "141".
std::string GibWords(int64_t bytes);
// "12.50", "1250".
std::string CostWords(double cost);

// What `gpuadvise run` reported of the job; no attempts if it did not.
Outcome ReportedOutcome(const api::Experiment& job);

// One start of the job's command: "1  today 10:12, 3 m: micro-batch 10 × 3, out of memory", then a
// line per GPU. `still_runs`: its end is not known yet.
std::vector<std::string> AttemptWords(const Attempt& attempt, size_t number, bool still_runs,
                                      int64_t now);

// "step 500/10,000 · 3.9 s a step · 10 h 20 left · loss 0.51"; "" before anything is known. The
// rest is given only of a command that `still_runs`.
std::string ProgressWords(const Attempt& attempt, bool still_runs);
// 0..1, nullopt if the number of steps is not known.
std::optional<double> ProgressOf(const Attempt& attempt);

// Whether the last outcome was written while the command ran, and the job has not ended since.
bool RunsStill(const api::Experiment& job, const Outcome& outcome);

}  // namespace gpuadvise::client
