#include "client/jobs_table.h"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "client/answer_reader.h"
#include "client/display.h"
#include "client/experiment_words.h"
#include "client/text_table.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// What is still shown; each step of narrowing takes one thing away.
struct Shape {
  bool cost = true;
  bool late = true;
  bool spaced = true;
  int name_width = 32;  // 0: none
  bool time_of_day = true;
  bool memory_forecast = true;
  bool effective = true;
  bool steps = true;
  bool memory = true;
  bool loss = true;
  bool batch = true;
  bool wait = true;
};

std::string OrDash(std::string text) { return text.empty() ? "–" : text; }

// "8 m → 12 m", "8 m" before it is known how long it took, "→ 12 m" where nothing was forecast.
std::string SaidAndReal(const std::string& said, const std::string& real, bool spaced) {
  if (real.empty()) return OrDash(said);
  return said + (said.empty() || !spaced ? "→" : " → ") + (said.empty() ? " " : "") + real;
}

std::string RealWords(const json& job, const char* key) {
  const auto seconds = SecondsOf(job, key);
  return seconds ? ElapsedWords(*seconds) : "";
}

std::string DateCell(const json& job, int64_t now, bool time_of_day) {
  const auto time = MomentOf(job, "submitted_at");
  if (!time) return "–";
  const std::string whole = ClockTime(*time, now);
  return time_of_day ? whole : whole.substr(0, whole.rfind(' '));
}

std::string WaitCell(const json& job, const Shape& shape) {
  return SaidAndReal(SaidWords(job, "wait_p50_seconds", "wait_p90_seconds", shape.late),
                     RealWords(job, "wait_seconds"), shape.spaced);
}

std::string RunCell(const json& job, const Shape& shape) {
  return SaidAndReal(SaidWords(job, "run_p50_seconds", "run_p90_seconds", shape.late),
                     RealWords(job, "run_seconds"), shape.spaced);
}

std::string PeakCell(const json& job, const Shape& shape) {
  const auto said = BytesOf(job, "memory_bytes");
  const auto real = BytesOf(job, "peak_memory_bytes");
  const std::string peak = real ? GibWords(*real) : "";
  if (!shape.memory_forecast) return OrDash(peak);
  return SaidAndReal(said ? GibWords(*said) : "", peak, shape.spaced);
}

std::string StepsCell(const json& job) {
  const auto steps = CountOf(job, "steps");
  return steps ? Grouped(*steps) : "–";
}

std::string LossCell(const json& job, bool spaced) {
  const auto loss = OptionalNumber(job, "loss");
  return loss ? fmt::format("{:.{}g}", *loss, spaced ? 4 : 3) : "–";
}

std::string CostCell(const json& job) {
  const auto real = OptionalNumber(job, "real_cost");
  const auto cost = real ? real : OptionalNumber(job, "cost");
  return cost ? CostWords(*cost) : "–";
}

std::string StateCell(const json& job, bool spaced) {
  const std::string words = StateWords(job);
  return !spaced && words == "out of memory" ? "OOM" : words;
}

// "RTX 4090 × 4", "L40S × 2 × 2 nodes"; without blanks "RTX 4090×4", "L40S×2×2".
std::string GpusCell(const json& job, bool spaced) {
  const auto nodes = CountOf(job, "nodes").value_or(1);
  const std::string gpu = TextOf(job, "gpu");
  if (spaced || gpu.empty()) return GpusWords(job);
  return fmt::format("{}×{}{}", gpu, CountOf(job, "gpus_per_node").value_or(1),
                     nodes > 1 ? fmt::format("×{}", nodes) : "");
}

// "5 × 6 × 4 = 120", "5×6×4=120", "5×6×4".
std::string BatchCell(const json& job, const Shape& shape) {
  const std::string words = BatchWords(job, shape.spaced);
  return shape.effective ? words : words.substr(0, words.find('='));
}

class Builder {
 public:
  explicit Builder(const json& jobs) : jobs_(jobs) {}
  void Add(std::string header, const std::function<std::string(const json&)>& cell,
           Align align = Align::kLeft) {
    TextColumn column{std::move(header), {}, align};
    for (const json& job : jobs_) column.cells.push_back(cell(job));
    columns_.push_back(std::move(column));
  }
  std::vector<TextColumn> Take() { return std::move(columns_); }

 private:
  const json& jobs_;
  std::vector<TextColumn> columns_;
};

std::vector<TextColumn> Columns(const json& jobs, const Shape& shape, int64_t now) {
  Builder table(jobs);
  table.Add("DATE", [&](const json& job) { return DateCell(job, now, shape.time_of_day); });
  table.Add(
      "JOB", [](const json& job) { return std::to_string(IntOf(job, "job_id")); }, Align::kRight);
  if (shape.name_width > 0) {
    table.Add("NAME", [&](const json& job) {
      return OrDash(Clipped(TextOf(job, "name"), shape.name_width));
    });
  }
  table.Add("STATE", [&](const json& job) { return StateCell(job, shape.spaced); });
  table.Add("GPUS", [&](const json& job) { return GpusCell(job, shape.spaced); });
  if (shape.batch) {
    table.Add(shape.spaced ? "BATCH × ACC × GPUS" : "BATCH",
              [&](const json& job) { return BatchCell(job, shape); });
  }
  if (shape.steps) table.Add("STEPS", StepsCell, Align::kRight);
  const std::string range = shape.late ? " p50 (p90) → REAL" : shape.spaced ? " → REAL" : "→REAL";
  if (shape.wait) table.Add("WAIT" + range, [&](const json& job) { return WaitCell(job, shape); });
  table.Add("RUN" + range, [&](const json& job) { return RunCell(job, shape); });
  if (shape.memory) {
    table.Add(!shape.memory_forecast ? "GiB"
              : shape.spaced         ? "GiB → PEAK"
                                     : "GiB→PEAK",
              [&](const json& job) { return PeakCell(job, shape); });
  }
  if (shape.loss) {
    table.Add(
        "LOSS", [&](const json& job) { return LossCell(job, shape.spaced); }, Align::kRight);
  }
  if (shape.cost) table.Add("COST", CostCell, Align::kRight);
  return table.Take();
}

bool AnyCost(const json& jobs) {
  for (const json& job : jobs) {
    if (OptionalNumber(job, "cost") || OptionalNumber(job, "real_cost")) return true;
  }
  return false;
}

std::vector<void (*)(Shape*)> Sacrifices() {
  return {[](Shape* shape) { shape->late = false; },
          [](Shape* shape) { shape->spaced = false; },
          [](Shape* shape) { shape->name_width = 16; },
          [](Shape* shape) { shape->time_of_day = false; },
          [](Shape* shape) { shape->memory_forecast = false; },
          [](Shape* shape) { shape->effective = false; },
          [](Shape* shape) { shape->cost = false; },
          [](Shape* shape) { shape->steps = false; },
          [](Shape* shape) { shape->memory = false; },
          [](Shape* shape) { shape->name_width = 0; },
          [](Shape* shape) { shape->loss = false; },
          [](Shape* shape) { shape->batch = false; },
          [](Shape* shape) { shape->wait = false; }};
}

}  // namespace

std::vector<std::string> JobsTable(const json& jobs, int64_t now, int width) {
  Shape shape;
  shape.cost = AnyCost(jobs);
  std::vector<TextColumn> columns = Columns(jobs, shape, now);
  for (auto sacrifice : Sacrifices()) {
    if (TableWidth(columns) <= width) break;
    sacrifice(&shape);
    columns = Columns(jobs, shape, now);
  }
  return TableLines(columns, width);
}

}  // namespace gpuadvise
