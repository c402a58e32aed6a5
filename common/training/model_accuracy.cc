#include "common/training/model_accuracy.h"

#include <nlohmann/json.hpp>

namespace gpuadvise {

nlohmann::json AccuracyJson(std::span<const CountAccuracy> figures) {
  nlohmann::json all = nlohmann::json::array();
  for (const CountAccuracy& each : figures) {
    all.push_back({{"of", each.of},
                   {"rows", each.rows},
                   {"median_error", each.median},
                   {"p90_error", each.p90}});
  }
  return all;
}

}  // namespace gpuadvise
