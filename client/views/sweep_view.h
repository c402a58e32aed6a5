// Where each run of a sweep goes, as a person reads it. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "client/terminal/console.h"
#include "common/api/advice.h"

namespace gpuadvise::client {

// "80 runs: done by today 21:40 (23:55), half of them by 16:10; 412 GPU-hours".
std::string SweepSentence(const api::Sweep& sweep, int64_t now);

// "all 80 on RTX 4090 × 1: done by today 22:40 (Fri 01:10), 1 h later"; "" if that is the plan.
std::string SingleSentence(const api::Advice& advice, int64_t now);

// Both and a table of the shares; "" without a sweep. Each line ends in a newline.
std::string SweepText(const api::Advice& advice, int64_t now, const TerminalStyle& style);

}  // namespace gpuadvise::client
