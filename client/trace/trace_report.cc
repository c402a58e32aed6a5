#include "client/trace/trace_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/json_fields.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kFormat = 1;
constexpr int64_t kMostBytes = 1'000'000'000'000'000;
constexpr int64_t kMostParameters = 1'000'000'000'000'000;
constexpr int64_t kMostBatch = 1'000'000;
constexpr size_t kMostNotes = 20;

// The remedy for a trace that failed with `kind`.
std::string Remedy(const std::string& kind) {
  if (kind == "no_torch") {
    return "; activate the training's environment, or name its Python with --python";
  }
  if (kind == "too_late") {
    return "; allow more time with --trace-minutes, or prepare less before the first step";
  }
  if (kind == "memory") {
    return "; the trace itself holds no weights, so load less data, or raise --trace-memory";
  }
  if (kind == "no_step" || kind == "no_gpu") {
    return ", so there is nothing to count; write the loop with it, or give the shape in a "
           "train.yaml";
  }
  if (kind == "raised" || kind == "exit")
    return " (a trace runs the script as it is; does it run by itself?)";
  return {};
}

Error ReadFailure(FieldReader& report, const TracedScript& script) {
  const std::string kind = report.Text("kind").value_or("");
  const std::string place = report.Text("place").value_or("");
  std::string sentence = report.Text("sentence").value_or("did not say why");
  if (kind == "exit" && !script.said_last.empty()) sentence += ": " + script.said_last;
  if (kind == "tool") return {ErrorCode::kInternal, "--trace: " + sentence, ""};
  const bool is_quoted = kind == "raised" || kind == "untraceable";
  std::string subject = (place.empty() ? script.program : place) + (is_quoted ? ": " : " ");
  if (kind == "no_torch" || (!place.empty() && sentence.starts_with(place))) subject.clear();
  return {ErrorCode::kBadInput, "--trace: " + subject + sentence + Remedy(kind), ""};
}

BytesAtPeak ReadPeak(FieldReader& report, const char* key) {
  std::optional<FieldReader> reader = report.Object(key);
  if (!reader) return {};
  const auto bytes = [&](const char* name) { return reader->Int(name, 0, kMostBytes).value_or(0); };
  return {bytes("total"), bytes("weights"), bytes("gradients"), bytes("optimizer"),
          bytes("activations")};
}

}  // namespace

Result<TraceReport> ReadTraceReport(std::string_view text, const TracedScript& script) {
  const Result<json> document = ParseJsonObject(text);
  if (!document) {
    return BadInput(
        fmt::format("--trace: the report of {} {}", script.program, document.error().message));
  }
  DocumentErrors errors;
  FieldReader reader(*document, "", &errors);
  const auto format = reader.Int("format", kFormat, kFormat);
  const auto status = reader.Choice("status", {"traced", "failed"});
  if (status == "failed" && !errors.failed()) {
    const Error failure = ReadFailure(reader, script);
    if (!errors.failed()) return tl::unexpected<Error>(failure);
  }
  TraceReport report;
  report.torch = reader.Text("torch", 64).value_or("");
  report.micro_batch = reader.Int("batch", 0, kMostBatch).value_or(0);
  report.parameters = reader.Int("parameters", 0, kMostParameters).value_or(0);
  report.trained = reader.Int("trained_parameters", 0, kMostParameters).value_or(0);
  report.precision = reader.Choice("precision", {"bf16", "fp16", "fp32"}).value_or("fp32");
  report.backward = ReadPeak(reader, "backward");
  report.step = ReadPeak(reader, "step");
  report.notes = reader.Texts("notes", kMostNotes);
  if (!errors.failed() && (!format || !status || report.backward.total <= 0)) {
    return BadInput(fmt::format("--trace: the report of {} lacks its figures", script.program));
  }
  if (const Result<void> fine = errors.AsResult(); !fine) {
    return BadInput(fmt::format("--trace: the report of {} cannot be used: {}", script.program,
                                fine.error().message));
  }
  return report;
}

}  // namespace gpuadvise::client
