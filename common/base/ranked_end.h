// What rankings by "finish" go by, here and where the answers of several clusters are merged.
#pragma once

namespace gpuadvise {

// Weight of the 90th percentile against the median (docs/forecast.md, "How rows are ranked").
inline constexpr double kCaution = 0.5;

// Of an end with these quantiles, in their unit.
inline double RankedEnd(double p50, double p90, double caution = kCaution) {
  return (1 - caution) * p50 + caution * p90;
}

}  // namespace gpuadvise
