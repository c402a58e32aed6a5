// The answers of several clusters' daemons to one question, merged into one of the same form.
//
// Each row names its `cluster`; `clusters` lists each with the age of its data, or with the error.
// Strategies are ranked anew as a daemon ranks them (docs/api.md), by figures in the rows. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

struct ClusterAnswer {
  std::string cluster;
  Result<nlohmann::json> answer;
};

// REQUIRES: one of `answers` at least is an answer. `target` as it was asked: "/v1/gpus".
nlohmann::json MergedAnswer(std::string_view target, const std::vector<ClusterAnswer>& answers);

}  // namespace gpuadvise::client
