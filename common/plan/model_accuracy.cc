#include "common/plan/model_accuracy.h"

namespace gpuadvise {

std::vector<api::EstimateAccuracy> ComputeAccuracy(std::span<const CountAccuracy> figures) {
  std::vector<api::EstimateAccuracy> all;
  for (const CountAccuracy& each : figures) {
    all.push_back({each.of, each.rows, each.median, each.p90});
  }
  return all;
}

}  // namespace gpuadvise
