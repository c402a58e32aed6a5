// Converts traces of a script to the memory line of `fit`, linear in the micro-batch.
//
// Outside the optimizer's step the peak grows with the micro-batch; inside it does not. So traces
// at two micro-batches give the slope, and the step's peak is the floor of the line. With a single
// trace, all bytes but weights, gradients and optimizer state are assumed to grow with the batch.
// Adds a share for fragmentation and the CUDA context, as for models counted by their shape
// (common/memory/memory_model.h). Pure except for `run`.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/trace/trace_report.h"
#include "common/models/model_presets.h"

namespace gpuadvise::client {

// Traces with `micro_batch`, or if 0 with the script's own batch times `scale`.
using RunTrace = std::function<Result<TraceReport>(int64_t micro_batch, int64_t scale)>;

struct TracedMemory {
  TraceReport report;                  // for the smaller micro-batch
  std::vector<int64_t> micro_batches;  // one or two
  MemoryLine line;
  std::vector<std::string> notes;  // sentences
};

// `batch_in_command`: the command uses {micro_batch}. Errors: of `run`; no micro-batch seen in the
// trace; no growth with it.
Result<TracedMemory> TraceMemory(bool batch_in_command, const RunTrace& run);

// The line as text for train.yaml.
std::string YamlOf(const TracedMemory& traced);

// Adds the trace to `answer`, the result of AnswerFit for `traced.line`: the parts of each row's
// memory, its basis, the parameter counts and `trace`.
void AddTrace(const TracedMemory& traced, nlohmann::json& answer);

}  // namespace gpuadvise::client
