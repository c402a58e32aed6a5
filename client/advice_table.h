// The ranking as columns, made narrower step by step until it fits.
//
// Order of sacrifice: COST without any price, PARTITION that all rows share (the header line says
// it), blanks in the batch formula, the late times, COST, PARTITION, the batch formula. What is
// left is clipped at the terminal's edge. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpuadvise {

struct AdviceTable {
  std::vector<std::string> lines;  // header and one per strategy
  std::string shared_partition;    // said once instead of in every row; "" when in the table
};

AdviceTable MakeAdviceTable(const std::vector<const nlohmann::json*>& strategies,
                            int64_t chosen_rank, int64_t now, int width);

}  // namespace gpuadvise
