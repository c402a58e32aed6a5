// The answers of several clusters' daemons to one question, as one answer of the same form.
//
// Each row says of which `cluster` it is; `clusters` says of each what its daemon said of itself,
// or what is wrong. Strategies are ranked anew by what each daemon ranks by (docs/api.md): the
// objective's figures, which are in the rows. Pure.
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
