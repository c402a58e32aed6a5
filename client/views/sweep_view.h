// Where each run of a sweep goes, and what has become of it, as a person reads it. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/terminal/console.h"
#include "common/api/advice.h"
#include "common/api/experiment.h"
#include "common/api/queue.h"
#include "common/api/sweep.h"

namespace gpuadvise::client {

// "80 runs: done by today 21:40 (23:55), half of them by 16:10; 412 GPU-hours".
std::string SweepSentence(const api::Sweep& sweep, int64_t now);

// "all 80 on RTX 4090 × 1: done by today 22:40 (Fri 01:10), 1 h later"; "" if that is the plan.
std::string SingleSentence(const api::Advice& advice, int64_t now);

// Both and a table of the shares; "" without a sweep. Each line ends in a newline.
std::string SweepText(const api::Advice& advice, int64_t now, const TerminalStyle& style);

// "34 of 80 done, 12 running, 32 waiting, 2 failed, 6 moved".
std::string ProgressWords(const api::SweepProgress& sweep);

// "done by today 17:25 (18:19)"; "" where that is not known.
std::string EndWords(const api::SweepProgress& sweep, int64_t now);

// A line for each: "Sweep 4711, search: 34 of 80 done, 46 waiting; done by today 17:25 (18:19)".
std::string ProgressText(const std::vector<api::SweepProgress>& sweeps, int64_t now,
                         const TerminalStyle& style);

// The rows of a sweep as one, where its first row is.
std::vector<api::QueueJob> FoldedQueue(const api::Queue& queue);
std::vector<api::Experiment> FoldedJobs(const api::Experiments& log);

}  // namespace gpuadvise::client
