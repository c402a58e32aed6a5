// `gpuadvise queue`: squeue's jobs, with when each will start and why it waits.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/api/http_client.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string TargetOf(const QueueCommand& command) {
  std::string target = "/v1/queue";
  char mark = '?';
  for (const auto& [name, value] : {std::pair{"user", &command.user},
                                    {"partition", &command.partition},
                                    {"state", &command.state}}) {
    if (value->empty()) continue;
    target += fmt::format("{}{}={}", mark, name, QueryEncoded(*value));
    mark = '&';
  }
  return target;
}

std::string IdOf(const json& job) {
  const std::string tasks = TextOf(job, "array_tasks");
  return std::to_string(IntOf(job, "job_id")) + (tasks.empty() ? "" : "_[" + tasks + "]");
}

std::string LimitOf(const json& job) {
  const auto limit = OptionalNumber(job, "time_limit_seconds");
  return limit ? FormatDuration(static_cast<int64_t>(*limit)) : "–";
}

bool Waits(const json& job) { return TextOf(job, "state") == "PENDING"; }

// "runs", "now", "8 m (1 h 50)"; "–" where nothing is known.
std::string StartOf(const json& job) {
  if (!Waits(job)) return "runs";
  const auto p50 = OptionalNumber(job, "wait_p50_seconds");
  if (!p50) return "–";
  const double p90 = NumberOf(job, "wait_p90_seconds");
  return p90 < 30 ? "now" : DurationRange(*p50, p90);
}

std::string ClockOf(const json& job, int64_t now) {
  if (!Waits(job) || !OptionalNumber(job, "wait_p50_seconds")) return "–";
  return ClockRange(IntOf(job, "start_p50"), IntOf(job, "start_p90"), now);
}

std::vector<AnswerColumn> QueueColumns(int64_t now) {
  return {{"JOBID", Align::kRight, IdOf},
          {"USER", Align::kLeft, [](const json& job) { return OrDash(TextOf(job, "user")); }},
          {"GRES", Align::kLeft, [](const json& job) { return OrDash(TextOf(job, "gres")); }},
          {"N", Align::kRight, [](const json& job) { return std::to_string(IntOf(job, "nodes")); }},
          {"LIMIT", Align::kRight, LimitOf},
          {"STARTS IN", Align::kLeft, StartOf},
          {"STARTS AT", Align::kLeft, [now](const json& job) { return ClockOf(job, now); }},
          {"PARTITION", Align::kLeft, [](const json& job) { return TextOf(job, "partition"); }},
          {"WHY", Align::kLeft,
           [](const json& job) { return Waits(job) ? TextOf(job, "reason_words") : ""; }},
          {"NAME", Align::kLeft, [](const json& job) { return OrDash(TextOf(job, "name")); }}};
}

std::string QueueText(const json& answer, int64_t now, const TerminalStyle& style) {
  const json& jobs = ListOf(answer, "jobs");
  const int64_t total = IntOf(answer, "total");
  std::string text = Clipped(fmt::format("{} · {} · starts as p50 (p90)", Plural(total, "job"),
                                         ClusterAndAge(answer)),
                             style.width) +
                     "\n";
  if (!jobs.empty()) text += "\n" + AnswerTable(jobs, QueueColumns(now), 6, style);
  const auto shown = static_cast<int64_t>(jobs.size());
  if (shown < total) text += fmt::format("and {} more; -p or -u shows fewer\n", total - shown);
  if (const std::string stale = DataDoubt(answer); !stale.empty()) {
    text += Yellow("Warning: " + stale, style.colour) + "\n";
  }
  return text;
}

}  // namespace

int RunQueue(const QueueCommand& command, Api& api, Console& console) {
  const Result<json> answer = api.Get(TargetOf(command));
  if (!answer) return Report(answer.error(), console);
  if (command.json) {
    PrintJson(*answer, console);
  } else {
    console.Print(QueueText(*answer, console.now(), console.style()));
  }
  return kExitOk;
}

}  // namespace gpuadvise::client
