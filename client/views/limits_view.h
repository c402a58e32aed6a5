// What a shorter time limit is worth, as text: the curve of wait and risk, and the advice.
#pragma once

#include <string>

#include "client/terminal/console.h"
#include "common/api/when.h"

namespace gpuadvise::client {

// Of `limits` and `limit_advice`.
std::string LimitsText(const api::StartAnswer& answer, const TerminalStyle& style);

}  // namespace gpuadvise::client
