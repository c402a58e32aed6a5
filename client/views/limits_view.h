// What a shorter time limit is worth, as text: the curve of wait and risk, and the advice.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/terminal/console.h"

namespace gpuadvise::client {

// `answer`: with `limits` and `limit_advice` as POST /v1/when has them.
std::string LimitsText(const nlohmann::json& answer, const TerminalStyle& style);

}  // namespace gpuadvise::client
