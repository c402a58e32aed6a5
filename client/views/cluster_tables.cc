#include "client/views/cluster_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/terminal/display.h"
#include "client/terminal/users_language.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int kWideEnoughForNames = 100;

std::vector<std::string> NamesIn(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string_view name : SplitAt(list, ',')) {
    if (!Trim(name).empty()) names.emplace_back(Trim(name));
  }
  return names;
}

std::string QueueIdOf(const json& job) {
  const std::string tasks = TextOf(job, "array_tasks");
  return std::to_string(IntOf(job, "job_id")) + (tasks.empty() ? "" : "_[" + tasks + "]");
}

std::string QueueLimitOf(const json& job) {
  const auto limit = OptionalNumber(job, "time_limit_seconds");
  return limit ? FormatDuration(static_cast<int64_t>(*limit)) : "–";
}

bool IsWaiting(const json& job) { return TextOf(job, "state") == "PENDING"; }

// "runs", "now", "8 m (1 h 50)"; "–" where nothing is known.
std::string QueueStartOf(const json& job) {
  if (!IsWaiting(job)) return InUsersLanguage("runs");
  const auto p50 = OptionalNumber(job, "wait_p50_seconds");
  if (!p50) return "–";
  const double p90 = NumberOf(job, "wait_p90_seconds");
  return p90 < 30 ? InUsersLanguage("now") : DurationRange(*p50, p90);
}

std::string ClockOf(const json& job, int64_t now) {
  if (!IsWaiting(job) || !OptionalNumber(job, "wait_p50_seconds")) return "–";
  return ClockRange(IntOf(job, "start_p50"), IntOf(job, "start_p90"), now);
}

std::string ClockTimeOf(const json& job, const char* key, int64_t now) {
  const auto time = OptionalNumber(job, key);
  return time && *time > 0 ? ClockTime(static_cast<int64_t>(*time), now) : "–";
}

// When it ends: of a running job, by its forecast; of a waiting one, its start and its run time.
std::string QueueEndOf(const json& job, int64_t now) {
  if (!IsWaiting(job)) {
    return ClockTimeOf(job, OptionalNumber(job, "end_p50") ? "end_p50" : "end_time", now);
  }
  const auto run = OptionalNumber(job, "run_p50_seconds");
  if (!run || !OptionalNumber(job, "wait_p50_seconds")) return "–";
  return ClockTime(IntOf(job, "start_p50") + static_cast<int64_t>(*run), now);
}

AnswerColumn QueueWord(const char* header, const char* key) {
  return {header, Align::kLeft, [key](const json& job) { return OrDash(TextOf(job, key)); }};
}

AnswerColumn QueueCount(const char* header, const char* key) {
  return {header, Align::kRight,
          [key](const json& job) { return std::to_string(IntOf(job, key)); }};
}

AnswerColumn QueueClock(const char* header, const char* key, int64_t now) {
  return {header, Align::kLeft, [key, now](const json& job) { return ClockTimeOf(job, key, now); }};
}

AnswerColumn StartsIn() { return {"STARTS IN", Align::kLeft, QueueStartOf}; }

AnswerColumn StartsAt(int64_t now) {
  return {"STARTS AT", Align::kLeft, [now](const json& job) { return ClockOf(job, now); }};
}

AnswerColumn QueueEnds(int64_t now) {
  return {"ENDS", Align::kLeft, [now](const json& job) { return QueueEndOf(job, now); }};
}

AnswerColumn QueueWhy() {
  return {"WHY", Align::kLeft,
          [](const json& job) { return IsWaiting(job) ? TextOf(job, "reason_words") : ""; }};
}

// squeue's -O names, in small letters, and those of the forecast.
std::vector<std::pair<std::string, AnswerColumn>> NamedColumns(int64_t now) {
  const AnswerColumn id{"JOBID", Align::kRight, QueueIdOf};
  return {{"jobid", id},
          {"jobarrayid", id},
          {"arrayjobid", id},
          {"name", QueueWord("NAME", "name")},
          {"username", QueueWord("USER", "user")},
          {"account", QueueWord("ACCOUNT", "account")},
          {"qos", QueueWord("QOS", "qos")},
          {"partition", QueueWord("PARTITION", "partition")},
          {"state", QueueWord("STATE", "state")},
          {"statecompact", QueueWord("STATE", "state")},
          {"gres", QueueWord("GRES", "gres")},
          {"tres-per-node", QueueWord("GRES", "gres")},
          {"gpus", QueueCount("GPUS", "gpus")},
          {"numnodes", QueueCount("N", "nodes")},
          {"timelimit", {"LIMIT", Align::kRight, QueueLimitOf}},
          {"prioritylong", QueueCount("PRIORITY", "priority")},
          {"reason", QueueWord("REASON", "reason")},
          {"submittime", QueueClock("SUBMITTED", "submit_time", now)},
          {"starttime", QueueClock("SLURM'S START", "slurm_start", now)},
          {"pendingtime",
           {"PENDING", Align::kRight,
            [now](const json& job) {
              const auto since = OptionalNumber(job, "submit_time");
              return IsWaiting(job) && since ? DurationInWords(static_cast<double>(now) - *since)
                                             : std::string("–");
            }}},
          {"startsin", StartsIn()},
          {"starts", StartsAt(now)},
          {"ends", QueueEnds(now)},
          {"why", QueueWhy()}};
}

Result<std::vector<AnswerColumn>> ColumnsByName(const std::string& format, int64_t now) {
  const auto named = NamedColumns(now);
  std::vector<std::string> names;
  for (const auto& [name, column] : named) names.push_back(name);
  std::vector<AnswerColumn> columns;
  for (const std::string& word : NamesIn(LowerCase(format))) {
    const std::string name = word.substr(0, word.find(':'));  // squeue's width behind a colon
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return BadInput("--Format: there is no column '" + name + "'" + DidYouMean(name, names) +
                      "; `gpuadvise queue --help` lists them");
    }
    columns.push_back(named[static_cast<size_t>(found - names.begin())].second);
  }
  if (columns.empty()) return BadInput("--Format: name at least one column, such as jobid,name");
  return columns;
}

std::string WaitInWords(const json& gpu, const char* key) {
  const auto seconds = OptionalNumber(gpu, key);
  return seconds ? DurationInWords(*seconds) : "–";
}

std::string MemoryOfGpu(const json& gpu) {
  const double bytes = NumberOf(gpu, "memory_bytes");
  return bytes > 0 ? fmt::format("{:.0f} GiB", bytes / (1 << 30)) : "–";
}

std::string NodesTimesGpus(const json& gpu) {
  return fmt::format("{} × {}", IntOf(gpu, "nodes"), IntOf(gpu, "gpus_per_node"));
}

AnswerColumn WaitColumn(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& gpu) { return WaitInWords(gpu, key); }};
}

AnswerColumn CountColumn(const char* header, const char* key) {
  return {header, Align::kRight,
          [key](const json& gpu) { return std::to_string(IntOf(gpu, key)); }};
}

AnswerColumn NamesColumn(const char* header, const char* key) {
  return {header, Align::kLeft, [key](const json& gpu) { return Join(TextsOf(gpu, key), ","); }};
}

}  // namespace

void AddClusterColumn(const json& rows, std::vector<AnswerColumn>& columns) {
  const bool any = std::any_of(rows.begin(), rows.end(),
                               [](const json& row) { return !TextOf(row, "cluster").empty(); });
  if (any) columns.insert(columns.begin(), QueueWord("CLUSTER", "cluster"));
}

Result<std::vector<AnswerColumn>> QueueColumns(const QueueShape& shape, int64_t now, int width) {
  if (!shape.names.empty()) return ColumnsByName(shape.names, now);
  std::vector<AnswerColumn> columns = {{"JOBID", Align::kRight, QueueIdOf},
                                       QueueWord("USER", "user")};
  const bool wide = width >= kWideEnoughForNames || shape.is_long;
  if (wide) columns.push_back(QueueWord("NAME", "name"));
  columns.insert(columns.end(), {QueueWord("GRES", "gres"),
                                 QueueCount("N", "nodes"),
                                 {"LIMIT", Align::kRight, QueueLimitOf},
                                 StartsIn()});
  if (!wide) columns.push_back(StartsAt(now));
  if (shape.start) {
    columns.push_back(QueueClock("SLURM'S START", "slurm_start", now));
  }
  if (wide) columns.insert(columns.end(), {StartsAt(now), QueueEnds(now)});
  columns.push_back(QueueWord("PARTITION", "partition"));
  if (shape.is_long) {
    columns.insert(columns.end(), {QueueWord("STATE", "state"), QueueWord("ACCOUNT", "account"),
                                   QueueWord("QOS", "qos"), QueueCount("PRIORITY", "priority")});
  }
  columns.push_back(QueueWhy());
  return columns;
}

std::vector<AnswerColumn> GpusColumns() {
  return {{"GPU", Align::kLeft, [](const json& gpu) { return TextOf(gpu, "gpu_name"); }},
          CountColumn("FREE", "free"),
          CountColumn("USABLE", "usable"),
          CountColumn("TOTAL", "total"),
          WaitColumn("1 GPU", "wait_one_seconds"),
          WaitColumn("½ NODE", "wait_half_node_seconds"),
          WaitColumn("NODE", "wait_node_seconds"),
          WaitColumn("2 NODES", "wait_two_nodes_seconds"),
          {"MEMORY", Align::kRight, MemoryOfGpu},
          {"NODES × GPUS", Align::kLeft, NodesTimesGpus},
          NamesColumn("GRES", "gres_types"),
          NamesColumn("PARTITIONS", "partitions")};
}

}  // namespace gpuadvise::client
