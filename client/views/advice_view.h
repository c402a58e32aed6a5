// The answer of /v1/advise as a person reads it.
//
// A header line, the ranking as a table that is never wider than the terminal, why the first is
// first, what is impossible, tips, and how much the forecast knows. Rows keep the daemon's rank
// numbers, whatever is left out. Pure functions: width, colour and clock are arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/api/answer_reader.h"
#include "client/terminal/console.h"
#include "common/api/advice.h"

namespace gpuadvise::client {

struct AdviceViewOptions {
  bool all = false;  // every row and rejection; otherwise the best per GPU type and partition
  int64_t now = 0;   // unix seconds
  TerminalStyle style;
  int64_t chosen_rank = 0;  // the row marked with ✔; 0: the first
  // What leaves GPU types out; said first where no two are left.
  std::vector<std::string> narrowed_by = {};
};

// The whole text, ending in a newline.
std::string AdviceText(const api::Answer<api::Advice>& answer, const AdviceViewOptions& options);

// The strategies to show, of `advice`.
std::vector<const api::Strategy*> RowsToShow(const api::Advice& advice, bool all,
                                             int64_t chosen_rank = 0);

// The ranking as columns, made narrower step by step until it fits: order of sacrifice: COST
// without any price, PARTITION that all rows share (the header line says it), blanks in the batch
// formula, the late times, COST, PARTITION, the batch formula. What is left is clipped at the
// terminal's edge.
struct AdviceTable {
  std::vector<std::string> lines;  // header and one per strategy
  std::string shared_partition;    // said once instead of in every row; "" when in the table
};

AdviceTable MakeAdviceTable(const std::vector<const api::Strategy*>& strategies,
                            int64_t chosen_rank, int64_t now, int width);

}  // namespace gpuadvise::client
