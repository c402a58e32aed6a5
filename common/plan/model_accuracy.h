// Errors of computed memory and run time against published measurements, as quoted in documents and
// answers.
//
// From rows of sources that were not used to fit the constants (bench/accuracy leaves one source
// out at a time). Grade A rows state their full configuration, grade B rows leave parts open.
// docs/models.md lists them by source; tests/docs/accuracy_test.py keeps both in sync.
#pragma once

#include <span>
#include <vector>

#include "common/api/plan.h"

namespace gpuadvise {

// Errors as shares of the measured value.
struct CountAccuracy {
  const char* of;
  int rows;
  double median;
  double p90;
};

inline constexpr CountAccuracy kMemoryAccuracy[] = {
    {"grade A", 88, 0.057, 0.113},
    {"grade B", 117, 0.170, 0.417},
};
inline constexpr CountAccuracy kTimeAccuracy[] = {
    {"grade A", 161, 0.101, 0.267},
    {"grade B", 444, 0.092, 0.258},
    {"grade A, one timing on another card", 82, 0.048, 0.132},
    {"grade B, one timing on another card", 374, 0.098, 0.348},
};

std::vector<api::EstimateAccuracy> ComputeAccuracy(std::span<const CountAccuracy> figures);

}  // namespace gpuadvise
