#include "client/views/jobs_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "client/api/answer_reader.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "client/views/experiment_words.h"
#include "common/base/statistics.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// What is still shown; each step of narrowing takes one thing away.
struct JobsTableShape {
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

// "8 m → 12 m", "8 m" before it is known how long it took, "→ 12 m" where nothing was forecast.
std::string ForecastAndReal(const std::string& said, const std::string& real, bool spaced) {
  if (real.empty()) return OrDash(said);
  return said + (said.empty() || !spaced ? "→" : " → ") + (said.empty() ? " " : "") + real;
}

std::string RealWords(const json& job, const char* key) {
  const auto seconds = SecondsOf(job, key);
  return seconds ? ElapsedWords(*seconds) : "";
}

std::string DateCell(const json& job, int64_t now, bool time_of_day) {
  const auto time = TimeOf(job, "submitted_at");
  if (!time) return "–";
  const std::string whole = ClockTime(*time, now);
  return time_of_day ? whole : whole.substr(0, whole.rfind(' '));
}

std::string WaitCell(const json& job, const JobsTableShape& shape) {
  return ForecastAndReal(ForecastWords(job, "wait_p50_seconds", "wait_p90_seconds", shape.late),
                         RealWords(job, "wait_seconds"), shape.spaced);
}

std::string RunCell(const json& job, const JobsTableShape& shape) {
  return ForecastAndReal(ForecastWords(job, "run_p50_seconds", "run_p90_seconds", shape.late),
                         RealWords(job, "run_seconds"), shape.spaced);
}

std::string PeakCell(const json& job, const JobsTableShape& shape) {
  const auto said = BytesOf(job, "memory_bytes");
  const auto real = BytesOf(job, "peak_memory_bytes");
  const std::string peak = real ? GibWords(*real) : "";
  if (!shape.memory_forecast) return OrDash(peak);
  return ForecastAndReal(said ? GibWords(*said) : "", peak, shape.spaced);
}

std::string StepsCell(const json& job) {
  const auto steps = CountOf(job, "steps");
  return steps ? Grouped(*steps) : "–";
}

std::string LossCell(const json& job, bool spaced) {
  const auto loss = OptionalNumber(job, "loss");
  return loss ? fmt::format("{:.{}g}", *loss, spaced ? 4 : 3) : "–";
}

std::string RealCostCell(const json& job) {
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
std::string BatchCell(const json& job, const JobsTableShape& shape) {
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

std::vector<TextColumn> Columns(const json& jobs, const JobsTableShape& shape, int64_t now) {
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
  if (shape.cost) table.Add("COST", RealCostCell, Align::kRight);
  return table.Take();
}

bool AnyCost(const json& jobs) {
  for (const json& job : jobs) {
    if (OptionalNumber(job, "cost") || OptionalNumber(job, "real_cost")) return true;
  }
  return false;
}

std::vector<void (*)(JobsTableShape*)> Sacrifices() {
  return {[](JobsTableShape* shape) { shape->late = false; },
          [](JobsTableShape* shape) { shape->spaced = false; },
          [](JobsTableShape* shape) { shape->name_width = 16; },
          [](JobsTableShape* shape) { shape->time_of_day = false; },
          [](JobsTableShape* shape) { shape->memory_forecast = false; },
          [](JobsTableShape* shape) { shape->effective = false; },
          [](JobsTableShape* shape) { shape->cost = false; },
          [](JobsTableShape* shape) { shape->steps = false; },
          [](JobsTableShape* shape) { shape->memory = false; },
          [](JobsTableShape* shape) { shape->name_width = 0; },
          [](JobsTableShape* shape) { shape->loss = false; },
          [](JobsTableShape* shape) { shape->batch = false; },
          [](JobsTableShape* shape) { shape->wait = false; }};
}

}  // namespace

std::vector<std::string> JobsTable(const json& jobs, int64_t now, int width) {
  JobsTableShape shape;
  shape.cost = AnyCost(jobs);
  std::vector<TextColumn> columns = Columns(jobs, shape, now);
  for (auto sacrifice : Sacrifices()) {
    if (TableWidth(columns) <= width) break;
    sacrifice(&shape);
    columns = Columns(jobs, shape, now);
  }
  return TableLines(columns, width);
}

namespace {

// "RTX 4090" and "rtx-4090" are the same GPU.
std::string LettersAndDigits(const std::string& text) {
  std::string kept;
  for (const char c : LowerCase(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) kept += c;
  }
  return kept;
}

bool IsInState(const json& job, const std::string& state) {
  if (state == "failed") return HasFailed(job);
  if (state == "ok") return StateWords(job) == "ok";
  return TextOf(job, "state") == state;
}

bool IsWanted(const json& job, const JobsFilter& filter) {
  if (!job.is_object()) return false;
  if (!filter.state.empty() && !IsInState(job, filter.state)) return false;
  if (!filter.gpu.empty()) {
    const std::string gpu = LettersAndDigits(TextOf(job, "gpu"));
    if (gpu.find(LettersAndDigits(filter.gpu)) == std::string::npos) return false;
  }
  if (!ContainsIgnoringCase(TextOf(job, "name"), filter.name)) return false;
  return !filter.since || TimeOf(job, "submitted_at").value_or(-1) >= *filter.since;
}

}  // namespace

json FilteredJobs(const json& jobs, const JobsFilter& filter) {
  std::vector<const json*> wanted;
  for (const json& job : jobs) {
    if (IsWanted(job, filter)) wanted.push_back(&job);
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const json* a, const json* b) {
    return TimeOf(*a, "submitted_at").value_or(0) > TimeOf(*b, "submitted_at").value_or(0);
  });
  if (filter.limit && wanted.size() > static_cast<size_t>(*filter.limit)) {
    wanted.resize(static_cast<size_t>(*filter.limit));
  }
  json kept = json::array();
  for (const json* job : wanted) kept.push_back(*job);
  return kept;
}

namespace {

std::string WaitPart(const json& jobs) {
  int64_t known = 0, held = 0;
  for (const json& job : jobs) {
    const auto wait_held = WaitHeld(job);
    if (!wait_held) continue;
    ++known;
    if (*wait_held) ++held;
  }
  return known == 0 ? "" : fmt::format(" · {} of {} waited within their p90", held, known);
}

std::string ErrorPart(const char* words, std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  return fmt::format(" · {} {:.0f} % of {}", words, 100 * QuantileOf(errors, 0.5), errors.size());
}

void AddError(std::optional<double> said, std::optional<double> real, std::vector<double>& errors) {
  if (said && real && *said > 0) errors.push_back(std::abs(RelativeError(*said, *real)));
}

}  // namespace

std::string JobsRecord(const json& jobs) {
  std::vector<double> run, memory;
  for (const json& job : jobs) {
    if (StateWords(job) != "ok") continue;
    AddError(SecondsOf(job, "run_p50_seconds"), SecondsOf(job, "run_seconds"), run);
    AddError(BytesOf(job, "memory_bytes"), BytesOf(job, "peak_memory_bytes"), memory);
  }
  return Plural(static_cast<int64_t>(jobs.size()), "job") + WaitPart(jobs) +
         ErrorPart("run time median error", run) + ErrorPart("peak memory", memory);
}

namespace {

constexpr std::string_view kColumns =
    "job_id,advice_id,name,state,submitted_at,started_at,ended_at,gpu,gpus_per_node,nodes,"
    "partition,qos,micro_batch,accumulation,effective_batch_size,precision,steps,"
    "time_limit_seconds,wait_p50_seconds,wait_p90_seconds,wait_seconds,run_p50_seconds,"
    "run_p90_seconds,run_seconds,memory_bytes,peak_memory_bytes,gpu_memory_bytes,loss,"
    "seconds_per_step,mean_utilisation,cost,real_cost,cost_is_billing,attempts,out_of_memory,"
    "final_micro_batch,final_accumulation,slurm_state,exit_code,signal,has_outcome,"
    "outcome_running,output_dir";

// A whole number such as "-3.5e2"; not "inf" or "0x10", which strtod reads too.
bool IsNumber(const std::string& text) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0';
}

bool LooksLikeAFormula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

std::string CellOf(const json& job, std::string_view key) {
  const auto member = job.is_object() ? job.find(key) : job.end();
  if (!job.is_object() || member == job.end() || member->is_null()) return {};
  if (member->is_string()) return CsvCell(member->get_ref<const std::string&>());
  return member->is_structured() ? std::string() : member->dump();
}

}  // namespace

std::string CsvCell(std::string_view text) {
  std::string cell = Printable(text);
  if (LooksLikeAFormula(text) && !IsNumber(cell)) cell.insert(0, "'");
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string JobsCsv(const json& jobs) {
  const std::vector<std::string_view> columns = SplitAt(kColumns, ',');
  std::string text = std::string(kColumns) + "\r\n";
  for (const json& job : jobs) {
    std::vector<std::string> cells;
    for (const std::string_view column : columns) cells.push_back(CellOf(job, column));
    text += Join(cells, ",") + "\r\n";
  }
  return text;
}

}  // namespace gpuadvise::client
