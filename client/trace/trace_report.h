// Reads the report of trace_main.py on one run of a script, with bounds: the script ran in the same
// process and may have written anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

// Live bytes on the GPU at a peak, rounded to the allocator's blocks.
struct BytesAtPeak {
  int64_t total = 0;
  int64_t weights = 0;  // includes buffers
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t activations = 0;  // includes everything else
};

struct TraceReport {
  std::string torch;           // "2.4.1"
  int64_t micro_batch = 0;     // first dimension of the model's input; 0: not seen
  int64_t parameters = 0;      // of models on the GPU
  int64_t trained = 0;         // updated by an optimizer
  std::string precision;       // "bf16", "fp16", "fp32"
  BytesAtPeak backward, step;  // peak outside and inside the optimizer's step
  std::vector<std::string> notes;
};

// The script, for messages.
struct TracedScript {
  std::string program;      // its name
  std::string said_last{};  // the last line of its output
};

// Errors: kBadInput if the script cannot be traced, with its line and the remedy, or if the text is
// not a report; kInternal if the trace itself failed.
Result<TraceReport> ReadTraceReport(std::string_view text, const TracedScript& script);

}  // namespace gpuadvise::client
