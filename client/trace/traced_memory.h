// Traces of a script as memory that `fit` knows: a line in the micro-batch.
//
// Outside the optimizer's step the peak grows with the micro-batch, inside it does not: two traces
// at two micro-batches give the slope, and the step's peak is the floor of the line. From a single
// trace, what is neither weight, gradient nor state is taken to grow with the batch. Added are a
// share for fragmentation and the CUDA context, as for models counted by their shape
// (common/training/memory_model.h). Pure, but for `run`.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/trace/trace_report.h"
#include "common/training/model_presets.h"

namespace gpuadvise::client {

// With a micro-batch, or (0) with the script's own times `scale`.
using RunTrace = std::function<Result<TraceReport>(int64_t micro_batch, int64_t scale)>;

struct TracedMemory {
  TraceReport report;                  // of the smaller micro-batch
  std::vector<int64_t> micro_batches;  // one or two
  MemoryLine line;
  std::vector<std::string> notes;  // sentences
};

// `batch_in_command`: the command takes its micro-batch from {micro_batch}. Errors: of `run`, and
// where the trace does not see a micro-batch or no growth with it.
Result<TracedMemory> TraceMemory(bool batch_in_command, const RunTrace& run);

// The lines of a train.yaml that say the same.
std::string YamlOf(const TracedMemory& traced);

// Says in `answer`, of AnswerFit for `traced.line`, that it was traced: the parts of each row's
// memory, its basis, the counts of parameters and `trace`.
void AddTrace(const TracedMemory& traced, nlohmann::json& answer);

}  // namespace gpuadvise::client
