// How far the counts of memory and run time are from published measurements: the figures that
// documents and answers give.
//
// Of rows whose source had no part in the constants that count them (bench/accuracy leaves one
// source out at a time). Grade A rows state their whole configuration, grade B leaves parts open.
// docs/models.md has them by source; tests/docs/accuracy_test.py holds the two together.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

namespace gpuadvise {

// Sizes of errors, as shares of what was measured.
struct CountAccuracy {
  const char* of;
  int rows;
  double median;
  double p90;
};

inline constexpr CountAccuracy kMemoryAccuracy[] = {
    {"grade A", 88, 0.047, 0.098},
    {"grade B", 117, 0.179, 0.407},
};
inline constexpr CountAccuracy kTimeAccuracy[] = {
    {"grade A", 161, 0.100, 0.266},
    {"grade B", 444, 0.068, 0.254},
    {"grade A, one timing on another card", 82, 0.048, 0.125},
    {"grade B, one timing on another card", 374, 0.106, 0.358},
};

// [{"of": "grade A", "rows": 88, "median_error": 0.047, "p90_error": 0.098}, …]
nlohmann::json AccuracyJson(std::span<const CountAccuracy> figures);

}  // namespace gpuadvise
