// `gpuadvise why JOBID`: why it waits, when it starts, what would start it earlier.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string Head(const json& answer) {
  std::string head = fmt::format("Job {}", IntOf(answer, "job_id"));
  for (const char* key : {"name", "user", "partition", "gres"}) {
    if (const std::string text = TextOf(answer, key); !text.empty()) head += " · " + text;
  }
  if (const auto limit = OptionalNumber(answer, "time_limit_seconds")) {
    head += " · limit " + FormatDuration(static_cast<int64_t>(*limit));
  }
  return head + " · " + ClusterAndAge(answer);
}

std::string StartLine(const json& answer, int64_t now) {
  const auto p50 = OptionalNumber(answer, "wait_p50_seconds");
  if (!p50) return "no start time can be forecast for it as it is";
  const double p90 = NumberOf(answer, "wait_p90_seconds");
  if (p90 < 30) return "starts now";
  return fmt::format("starts in {}: {}", DurationRange(*p50, p90),
                     ClockRange(IntOf(answer, "start_p50"), IntOf(answer, "start_p90"), now));
}

std::string SlurmLine(const json& answer, int64_t now) {
  const auto start = OptionalNumber(answer, "slurm_start");
  if (!start) return "Slurm has not planned a start for it";
  return "Slurm's own plan, from time limits: " + ClockTime(static_cast<int64_t>(*start), now);
}

std::string PriorityLine(const json& answer) {
  const json& factors = ObjectOf(answer, "priority_factors");
  if (factors.empty()) return "";
  std::string line = fmt::format("priority {}:", IntOf(factors, "total"));
  for (const char* name :
       {"age", "fair_share", "job_size", "partition", "qos", "association", "tres"}) {
    const double factor = NumberOf(factors, name);
    if (factor < 0.5) continue;
    std::string word = name;
    if (word == "fair_share") word = "fair share";
    if (word == "job_size") word = "job size";
    line += fmt::format(" {} {:.0f},", word, factor);
  }
  if (line.back() == ',') line.pop_back();
  return line;
}

// What moved its start since it was submitted; none: nothing did.
std::vector<std::string> MovedLines(const json& answer, int64_t now) {
  const json& moved = ObjectOf(answer, "moved");
  if (moved.empty()) return {};
  const int64_t said = IntOf(moved, "said_start");
  const int64_t start = IntOf(moved, "start");
  std::vector<std::string> lines = {
      fmt::format("{} {} than forecast at submission ({})",
                  DurationInWords(static_cast<double>(std::abs(start - said))),
                  start > said ? "later" : "earlier", ClockTime(said, now))};
  for (const json& because : ListOf(moved, "because")) {
    if (because.is_string()) lines.push_back(because.get<std::string>());
  }
  if (lines.size() == 1) {
    lines.emplace_back(
        "nothing in the queue explains it; the learned run times and waits may have changed");
  }
  return lines;
}

void AddBlock(const std::string& title, const std::vector<std::string>& lines,
              const TerminalStyle& style, std::string& text) {
  if (lines.empty()) return;
  text += "\n" + Bold(title, style.colour) + "\n";
  for (const std::string& line : lines) {
    bool first = true;
    for (const std::string& part : Wrapped(line, std::max(20, style.width - 4))) {
      text += (first ? "  " : "    ") + part + "\n";
      first = false;
    }
  }
}

std::string WaitingText(const json& answer, int64_t now, const TerminalStyle& style) {
  std::string text = Clipped(Head(answer), style.width) + "\n";
  std::vector<std::string> starts = {StartLine(answer, now), SlurmLine(answer, now)};
  // That nothing is known yet is said by `accuracy`, and once under a ranking.
  const json& forecast = ObjectOf(answer, "forecast");
  if (IsTrue(forecast, "accuracy_known")) starts.push_back(TextOf(forecast, "note"));
  AddBlock("Start", starts, style, text);
  AddBlock("What moved its start", MovedLines(answer, now), style, text);
  std::vector<std::string> why;
  for (const json& reason : ListOf(answer, "why")) {
    const std::string clears = TextOf(reason, "clears");
    why.push_back(TextOf(reason, "words") + (clears.empty() ? "" : " → " + clears));
  }
  if (const std::string line = PriorityLine(answer); !line.empty()) why.push_back(line);
  AddBlock("Why it waits → what ends the wait", why, style, text);
  std::vector<std::string> cheaper;
  if (const json& limit = ObjectOf(answer, "limit_advice"); !TextOf(limit, "command").empty()) {
    cheaper.push_back(TextOf(limit, "words"));
    cheaper.push_back("→ " + TextOf(limit, "command"));
  }
  for (const json& one : ListOf(answer, "cheaper")) cheaper.push_back(TextOf(one, "words"));
  AddBlock("What would start it earlier", cheaper, style, text);
  return text;
}

std::string RunningText(const json& answer, int64_t now, const TerminalStyle& style) {
  std::string text = Clipped(Head(answer), style.width) + "\n";
  const auto start = OptionalNumber(answer, "start_time");
  const auto end = OptionalNumber(answer, "end_time");
  if (start) {
    text += fmt::format("  runs since {}\n", ClockTime(static_cast<int64_t>(*start), now));
  }
  if (end) {
    text += fmt::format("  ends by its limit {}\n", ClockTime(static_cast<int64_t>(*end), now));
  }
  return text;
}

}  // namespace

int RunWhy(const std::string& job_id, bool as_json, Api& api, Console& console) {
  const Result<json> answer = api.Get("/v1/jobs/" + job_id);
  if (!answer) return Report(answer.error(), console);
  if (as_json) {
    PrintJson(*answer, console);
    return kExitOk;
  }
  const bool waits = TextOf(*answer, "state") == "PENDING";
  std::string text = waits ? WaitingText(*answer, console.now(), console.style())
                           : RunningText(*answer, console.now(), console.style());
  if (const std::string stale = DataDoubt(*answer); !stale.empty()) {
    text += Yellow("Warning: " + stale, console.style().colour) + "\n";
  }
  console.Print(text);
  return kExitOk;
}

}  // namespace gpuadvise::client
