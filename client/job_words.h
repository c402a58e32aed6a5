// The strategy's figures under the names that commands and scripts use.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/placeholders.h"

namespace gpuadvise {

/// {micro_batch} and its like for `strategy`. {node_rank}, {master_addr} and {master_port} are
/// shell variables on several nodes and constants on one.
Placeholders StrategyWords(const nlohmann::json& spec, const nlohmann::json& strategy);

/// GPUADVISE_MICRO_BATCH and its like, in the order they are written.
std::vector<std::pair<std::string, std::string>> StrategyEnvironment(const nlohmann::json& strategy,
                                                                     const std::string& advice_id);

}  // namespace gpuadvise
