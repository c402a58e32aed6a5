#include "client/views/jobs_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
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
using Experiment = api::Experiment;
using Experiments = std::vector<Experiment>;

// What is still shown; each step of narrowing takes one thing away.
struct JobsTableShape {
  bool cost = true;
  bool limit = true;
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

std::string RealWords(std::optional<int64_t> known) {
  const auto seconds = KnownSeconds(known);
  return seconds ? DurationInWords(*seconds) : "";
}

std::string DateCell(const Experiment& job, const JobsTableShape& shape, int64_t now) {
  const auto time = KnownTime(job.submitted_at);
  if (!time || *time == 0) return "–";
  const std::string whole = ClockTime(*time, now);
  return shape.time_of_day ? whole : whole.substr(0, whole.rfind(' '));
}

std::optional<int64_t> LateOf(std::optional<int64_t> p90, const JobsTableShape& shape) {
  return shape.late ? p90 : std::nullopt;
}

std::string WaitedCell(const Experiment& job, const JobsTableShape& shape) {
  const api::Promise& said = job.promise;
  return ForecastAndReal(
      ForecastWords(said.wait_p50_seconds, LateOf(said.wait_p90_seconds, shape), WaitRange),
      RealWords(job.wait_seconds), shape.spaced);
}

std::string RunCell(const Experiment& job, const JobsTableShape& shape) {
  const api::Promise& said = job.promise;
  return ForecastAndReal(
      ForecastWords(said.run_p50_seconds, LateOf(said.run_p90_seconds, shape), DurationRange),
      RealWords(job.run_seconds), shape.spaced);
}

std::string PeakCell(const Experiment& job, const JobsTableShape& shape) {
  const auto said = KnownBytes(job.promise.memory_bytes);
  const auto real = KnownBytes(job.measured.peak_memory_bytes);
  const std::string peak = real ? GibWords(*real) : "";
  if (!shape.memory_forecast) return OrDash(peak);
  return ForecastAndReal(said ? GibWords(*said) : "", peak, shape.spaced);
}

std::string StepsCell(const Experiment& job) {
  const auto steps = KnownCount(job.promise.steps);
  return steps ? Grouped(*steps) : "–";
}

std::string LossCell(const Experiment& job, const JobsTableShape& shape) {
  const auto loss = job.measured.loss;
  return loss ? fmt::format("{:.{}g}", *loss, shape.spaced ? 4 : 3) : "–";
}

std::string RealCostCell(const Experiment& job) {
  const auto cost = job.real_cost ? job.real_cost : job.promise.cost;
  return cost ? CostWords(*cost) : "–";
}

std::string LimitCell(const Experiment& job, const JobsTableShape& shape) {
  if (!job.limit_used) return "–";
  return fmt::format("{:.0f}{}%", 100 * *job.limit_used, shape.spaced ? " " : "");
}

std::string StateCell(const Experiment& job, const JobsTableShape& shape) {
  const std::string words = StateWords(job);
  return !shape.spaced && words == "out of memory" ? "OOM" : words;
}

// "RTX 4090 × 4", "L40S × 2 × 2 nodes"; without blanks "RTX 4090×4", "L40S×2×2".
std::string GpusCell(const Experiment& job, const JobsTableShape& shape) {
  const std::string gpu = job.promise.gpu.value_or("");
  if (shape.spaced || gpu.empty()) return GpusWords(job);
  const int64_t nodes = KnownCount(job.promise.nodes).value_or(1);
  return fmt::format("{}×{}{}", gpu, KnownCount(job.promise.gpus_per_node).value_or(1),
                     nodes > 1 ? fmt::format("×{}", nodes) : "");
}

// "5 × 6 × 4 = 120", "5×6×4=120", "5×6×4".
std::string RanBatchCell(const Experiment& job, const JobsTableShape& shape) {
  const std::string words = OrDash(BatchWords(job, shape.spaced));
  return shape.effective ? words : words.substr(0, words.find('='));
}

std::vector<TextColumn> Columns(const Experiments& jobs, const JobsTableShape& shape, int64_t now) {
  std::vector<ColumnOf<Experiment>> columns;
  const auto add = [&](bool wanted, const std::string& header, const auto& cell,
                       Align align = Align::kLeft) {
    if (!wanted) return;
    columns.push_back({header, align, [&, cell](const Experiment& job) {
                         if constexpr (std::is_invocable_v<decltype(cell), const Experiment&>) {
                           return cell(job);
                         } else {
                           return cell(job, shape);
                         }
                       }});
  };
  add(true, "DATE", [&](const Experiment& job) { return DateCell(job, shape, now); });
  columns.push_back(CountMember("JOB", &Experiment::job_id));
  add(shape.name_width > 0, "NAME",
      [&](const Experiment& job) { return OrDash(Clipped(job.name, shape.name_width)); });
  add(true, "STATE", StateCell);
  add(true, "GPUS", GpusCell);
  add(shape.batch, shape.spaced ? "BATCH × ACC × GPUS" : "BATCH", RanBatchCell);
  add(shape.steps, "STEPS", StepsCell, Align::kRight);
  const std::string range = shape.late ? " p50 (p90) → REAL" : shape.spaced ? " → REAL" : "→REAL";
  add(shape.wait, "WAIT" + range, WaitedCell);
  add(true, "RUN" + range, RunCell);
  add(shape.limit, shape.spaced ? "LIMIT USED" : "LIMIT", LimitCell, Align::kRight);
  const char* const memory = shape.spaced ? "GiB → PEAK" : "GiB→PEAK";
  add(shape.memory, shape.memory_forecast ? memory : "GiB", PeakCell);
  add(shape.loss, "LOSS", LossCell, Align::kRight);
  add(shape.cost, "COST", RealCostCell, Align::kRight);
  return FilledColumns(jobs, columns);
}

std::vector<void (*)(JobsTableShape*)> Sacrifices() {
  return {[](JobsTableShape* shape) { shape->late = false; },
          [](JobsTableShape* shape) { shape->spaced = false; },
          [](JobsTableShape* shape) { shape->name_width = 16; },
          [](JobsTableShape* shape) { shape->time_of_day = false; },
          [](JobsTableShape* shape) { shape->memory_forecast = false; },
          [](JobsTableShape* shape) { shape->effective = false; },
          [](JobsTableShape* shape) { shape->steps = false; },
          [](JobsTableShape* shape) { shape->limit = false; },
          [](JobsTableShape* shape) { shape->cost = false; },
          [](JobsTableShape* shape) { shape->memory = false; },
          [](JobsTableShape* shape) { shape->name_width = 0; },
          [](JobsTableShape* shape) { shape->loss = false; },
          [](JobsTableShape* shape) { shape->batch = false; },
          [](JobsTableShape* shape) { shape->wait = false; }};
}

}  // namespace

std::vector<std::string> JobsTable(const Experiments& jobs, int64_t now, int width) {
  JobsTableShape shape;
  shape.cost = std::ranges::any_of(
      jobs, [](const Experiment& job) { return job.promise.cost || job.real_cost; });
  shape.limit =
      std::ranges::any_of(jobs, [](const Experiment& job) { return job.limit_used.has_value(); });
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

bool IsInState(const Experiment& job, const std::string& state) {
  if (state == "failed") return HasFailed(job);
  if (state == "ok") return StateWords(job) == "ok";
  return job.state == state;
}

bool IsWanted(const Experiment& job, const JobsFilter& filter) {
  if (!filter.state.empty() && !IsInState(job, filter.state)) return false;
  const std::string gpu = LettersAndDigits(job.promise.gpu.value_or(""));
  if (gpu.find(LettersAndDigits(filter.gpu)) == std::string::npos) return false;
  if (!ContainsIgnoringCase(job.name, filter.name)) return false;
  return !filter.since || job.submitted_at >= *filter.since;
}

}  // namespace

json FilteredJobs(const json& jobs, const JobsFilter& filter) {
  std::vector<std::pair<int64_t, const json*>> wanted;  // by time
  for (const json& row : jobs) {
    if (!row.is_object()) continue;
    const auto job = FromJson<Experiment>(row, ShownText);
    if (IsWanted(job, filter)) wanted.emplace_back(job.submitted_at, &row);
  }
  std::ranges::stable_sort(wanted, std::greater(), &std::pair<int64_t, const json*>::first);
  if (filter.limit && wanted.size() > static_cast<size_t>(*filter.limit)) {
    wanted.resize(static_cast<size_t>(*filter.limit));
  }
  json kept = json::array();
  for (const auto& [time, row] : wanted) kept.push_back(*row);
  return kept;
}

namespace {

std::string WaitPart(const Experiments& jobs) {
  int64_t known = 0, held = 0;
  for (const Experiment& job : jobs) {
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
  return fmt::format(" · {} {:.0f} % of {}", words, 100 * InterpolatedQuantile(errors, 0.5),
                     errors.size());
}

void AddError(std::optional<double> said, std::optional<double> real, std::vector<double>& errors) {
  if (said && real && *said > 0) errors.push_back(std::abs(RelativeError(*said, *real)));
}

}  // namespace

std::string JobsRecord(const Experiments& jobs) {
  std::vector<double> run, memory;
  for (const Experiment& job : jobs) {
    if (StateWords(job) != "ok") continue;
    AddError(KnownSeconds(job.promise.run_p50_seconds), KnownSeconds(job.run_seconds), run);
    AddError(KnownBytes(job.promise.memory_bytes), KnownBytes(job.measured.peak_memory_bytes),
             memory);
  }
  return Plural(static_cast<int64_t>(jobs.size()), "job") + WaitPart(jobs) +
         ErrorPart("run time median error", run) + ErrorPart("peak memory", memory);
}

namespace {

constexpr std::string_view kColumns =
    "job_id,advice_id,name,state,submitted_at,started_at,ended_at,gpu,gpus_per_node,nodes,"
    "partition,qos,micro_batch,accumulation,effective_batch_size,precision,steps,"
    "time_limit_seconds,limit_used,wait_p50_seconds,wait_p90_seconds,wait_seconds,run_p50_seconds,"
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

std::string RawCell(const json& job, std::string_view key) {
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
    for (const std::string_view column : columns) cells.push_back(RawCell(job, column));
    text += Join(cells, ",") + "\r\n";
  }
  return text;
}

}  // namespace gpuadvise::client
