// One start of a job's command, as an outcome's JSON tells it, in words.
//
// What an outcome says was written on a compute node: members may be missing or absurd. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gpuadvise {

/// "1  today 10:12, 3 m: micro-batch 10 × 3, out of memory", then a line per GPU. `still_runs`:
/// that it has ended is not known yet.
std::vector<std::string> AttemptWords(const nlohmann::json& attempt, size_t number, bool still_runs,
                                      int64_t now);

/// "step 500/10,000 · 3.9 s a step · 10 h 20 left · loss 0.51"; "" before anything is known. What
/// is left is said only of a command that `still_runs`.
std::string ProgressWords(const nlohmann::json& attempt, bool still_runs);
/// 0..1, nullopt where the steps in all are not known.
std::optional<double> ProgressOf(const nlohmann::json& attempt);

/// Whether the last outcome was written while the command ran, and the job has not ended since.
bool RunsStill(const nlohmann::json& job);

}  // namespace gpuadvise
