#include "client/trace/traced_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/memory/memory_constants.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kFirstBatch = 4;       // if the command uses {micro_batch}; BatchNorm needs 2
constexpr double kLeastBytes = 1 << 20;  // minimum base of a line
const double kWithFragments = 1 + kMemoryConstants.fragmentation_share;

int64_t WithFragments(double bytes) {
  return std::llround(std::max(bytes, kLeastBytes) * kWithFragments);
}

// The line through two traces. REQUIRES: both saw their micro-batch.
MemoryLine LineThrough(const TraceReport& less, const TraceReport& more) {
  const double each = static_cast<double>(more.backward.total - less.backward.total) /
                      static_cast<double>(more.micro_batch - less.micro_batch);
  const double base =
      static_cast<double>(less.backward.total) - each * static_cast<double>(less.micro_batch);
  return {WithFragments(base), std::llround(each * kWithFragments), 0, 0};
}

MemoryLine LineFromOne(const TraceReport& only) {
  const auto samples = static_cast<double>(only.micro_batch);
  const auto grows = static_cast<double>(only.backward.activations);
  return {WithFragments(static_cast<double>(only.backward.total) - grows),
          std::llround(grows / samples * kWithFragments), 0, 0};
}

void AddNotes(const TraceReport& report, std::vector<std::string>& notes) {
  for (const std::string& note : report.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
}

// Sets the parts of one GPU's memory at the peak that the row's micro-batch determines.
void SetParts(const TracedMemory& traced, json& memory, int64_t micro_batch) {
  const MemoryLine& line = traced.line;
  const bool in_step = line.base_bytes + line.per_sample_bytes * micro_batch < line.floor_bytes;
  const BytesAtPeak& peak = in_step ? traced.report.step : traced.report.backward;
  const auto total = memory.value("total_bytes", int64_t{0});
  const int64_t rest = total - line.overhead_bytes - peak.weights - peak.gradients - peak.optimizer;
  memory["weights_bytes"] = peak.weights;
  memory["gradients_bytes"] = peak.gradients;
  memory["optimizer_bytes"] = peak.optimizer;
  memory["activations_bytes"] = std::max<int64_t>(rest, 0);
  memory["framework_bytes"] = line.overhead_bytes;
  memory["peak_in"] = in_step ? "optimizer step" : "backward pass";
  memory["basis"] = "traced";
}

void MarkRow(const TracedMemory& traced, json& row) {
  const auto memory = row.find("memory");
  if (memory == row.end()) return;
  SetParts(traced, *memory, row.value("micro_batch", int64_t{1}));
}

void MarkStage(const TracedMemory& traced, json& stage) {
  stage["parameters"] = traced.report.parameters;
  stage["trained_parameters"] = traced.report.trained;
  MarkRow(traced, stage);  // a single row is in the stage itself too
  const auto rows = stage.find("gpus");
  if (rows == stage.end()) return;
  for (json& row : *rows) MarkRow(traced, row);
}

std::string SizeInYaml(int64_t bytes) {
  const auto size = static_cast<double>(std::max<int64_t>(bytes, 1000));
  return size >= 1e9 ? fmt::format("{:.4g} GB", size / 1e9) : fmt::format("{:.4g} MB", size / 1e6);
}

}  // namespace

Result<TracedMemory> TraceMemory(bool batch_in_command, const RunTrace& run) {
  Result<TraceReport> less = run(batch_in_command ? kFirstBatch : 0, 1);
  if (!less) return tl::unexpected<Error>(std::move(less.error()));
  if (batch_in_command) less->micro_batch = kFirstBatch;
  if (less->micro_batch == 0) {
    return BadInput(
        "--trace: no tensor with the micro-batch enters a model, so its size is not known; use "
        "{micro_batch} in the command");
  }
  TracedMemory traced{*less, {less->micro_batch}, LineFromOne(*less), less->notes};
  Result<TraceReport> more = run(batch_in_command ? 2 * kFirstBatch : 0, 2);
  if (more && batch_in_command) more->micro_batch = 2 * kFirstBatch;
  if (more && more->micro_batch > less->micro_batch) {
    traced.micro_batches.push_back(more->micro_batch);
    traced.line = LineThrough(*less, *more);
    AddNotes(*more, traced.notes);
  } else {
    traced.notes.push_back(more ? "no DataLoader gives the micro-batch, so only one was traced, "
                                  "and everything except weights, gradients and states is assumed "
                                  "to grow with it; use {micro_batch} in the command to trace two"
                                : "one micro-batch was traced, and everything except weights, "
                                  "gradients and states is assumed to grow with it: " +
                                      more.error().message);
  }
  if (traced.line.per_sample_bytes <= 0) {
    return BadInput(fmt::format(
        "--trace: the peak does not grow from micro-batch {} to {}; does the command use "
        "{{micro_batch}}?",
        traced.micro_batches.front(), traced.micro_batches.back()));
  }
  const int64_t step = std::max(less->step.total, more ? more->step.total : 0);
  traced.line.floor_bytes = WithFragments(static_cast<double>(step));
  traced.line.overhead_bytes = std::llround(kMemoryConstants.context_bytes);
  return traced;
}

std::string YamlOf(const TracedMemory& traced) {
  return fmt::format(
      "model:\n  params: {}\n  memory: {{base: {}, per_sample: {}, overhead: {}, floor: {}}}\n",
      traced.report.parameters, SizeInYaml(traced.line.base_bytes),
      SizeInYaml(traced.line.per_sample_bytes), SizeInYaml(traced.line.overhead_bytes),
      SizeInYaml(traced.line.floor_bytes));
}

void AddTrace(const TracedMemory& traced, json& answer) {
  MarkStage(traced, answer);
  const auto stages = answer.find("stages");
  if (stages != answer.end()) {
    for (json& stage : *stages) MarkStage(traced, stage);
  }
  answer["trace"] = {{"torch", traced.report.torch},
                     {"micro_batches", traced.micro_batches},
                     {"base_bytes", traced.line.base_bytes},
                     {"per_sample_bytes", traced.line.per_sample_bytes},
                     {"overhead_bytes", traced.line.overhead_bytes},
                     {"floor_bytes", traced.line.floor_bytes},
                     {"precision", traced.report.precision},
                     {"notes", traced.notes}};
}

}  // namespace gpuadvise::client
