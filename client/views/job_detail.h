// Everything known of one job: `gpuadvise jobs 123`.
//
// Forecast and actual figures in words, each start of its command, its GPUs, its folder, and why
// this strategy was advised. Pure: clock and style are arguments.
#pragma once

#include <cstdint>
#include <string>

#include "client/terminal/console.h"
#include "common/api/experiment.h"

namespace gpuadvise::client {

// `job`: of GET /v1/advice?job=ID (ReadExperiments). Ends in a newline.
std::string JobDetailText(const api::Experiment& job, int64_t now, const TerminalStyle& style);

}  // namespace gpuadvise::client
