// The answer of /v1/advise as a person reads it.
//
// A header line, the ranking as a table that is never wider than the terminal, why the first is
// first, what is impossible, tips, and how much the forecast knows. Rows keep the daemon's rank
// numbers, whatever is left out. Pure functions: width, colour and clock are arguments.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/console.h"

namespace gpuadvise {

struct AdviceViewOptions {
  bool all = false;  // every row and rejection; otherwise the best per GPU type and partition
  int64_t now = 0;   // unix seconds
  Look look;
  int64_t chosen_rank = 0;  // the row marked with ✔; 0: the first
};

/// The whole text, ending in a newline.
std::string AdviceText(const nlohmann::json& answer, const AdviceViewOptions& options);

/// "RTX 4090 × 4", "L40S × 6 × 2 nodes".
std::string StrategyName(const nlohmann::json& strategy);

/// "now or by today 21:40 (23:55), done …": one sentence for the row that was taken.
std::string PromiseSentence(const nlohmann::json& strategy, int64_t now);

/// Indices of the strategies to show.
std::vector<size_t> RowsToShow(const nlohmann::json& answer, bool all);

}  // namespace gpuadvise
