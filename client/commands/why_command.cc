// `gpuadvise why JOBID`: why it waits, when it starts, what would start it earlier.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/api/queue.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string Head(const api::Answer<api::Job>& answer) {
  const api::QueueJob& job = answer.row;
  std::string head = fmt::format("Job {}", job.job_id);
  for (const std::string& part :
       {job.name.value_or(""), job.user.value_or(""), job.partition, job.gres}) {
    if (!part.empty()) head += " · " + part;
  }
  if (job.time_limit_seconds) head += " · limit " + FormatDuration(*job.time_limit_seconds);
  return head + " · " + ClusterAndAge(answer.frame);
}

std::string StartLine(const api::JobWait& wait, int64_t now) {
  if (!wait.start) return "no start time can be forecast for it as it is";
  const api::Seconds& seconds = wait.start->wait;
  const std::string words = StartInWords(static_cast<double>(seconds.p50_seconds),
                                         static_cast<double>(seconds.p90_seconds));
  if (seconds.p90_seconds < 30) return words;
  return words + ": " + ClockRange(wait.start->start_p50, wait.start->start_p90, now);
}

std::string SlurmLine(const api::JobWait& wait, int64_t now) {
  if (!wait.slurm_start) return "Slurm has not planned a start for it";
  return "Slurm's own plan, from time limits: " + ClockTime(*wait.slurm_start, now);
}

std::string PriorityLine(const api::PriorityParts& parts) {
  const std::pair<const char*, double> factors[] = {
      {"age", parts.age},           {"fair share", parts.fair_share},
      {"job size", parts.job_size}, {"partition", parts.partition},
      {"qos", parts.qos},           {"association", parts.association},
      {"tres", parts.tres}};
  std::string line = fmt::format("priority {}:", parts.total);
  for (const auto& [name, factor] : factors) {
    if (factor >= 0.5) line += fmt::format(" {} {:.0f},", name, factor);
  }
  if (line.back() == ',') line.pop_back();
  return line;
}

// What moved its start since it was submitted.
std::vector<std::string> MovedLines(const api::StartMoved& moved, int64_t now) {
  std::vector<std::string> lines = {fmt::format(
      "{} {} than forecast at submission ({})",
      DurationInWords(static_cast<double>(std::abs(moved.start - moved.said_start))),
      moved.start > moved.said_start ? "later" : "earlier", ClockTime(moved.said_start, now))};
  lines.insert(lines.end(), moved.because.begin(), moved.because.end());
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

std::string WaitingText(const api::Answer<api::Job>& answer, int64_t now,
                        const TerminalStyle& style) {
  const api::JobWait wait = answer.row.wait.value_or(api::JobWait());
  const api::JobOutlook outlook = answer.outlook.value_or(api::JobOutlook());
  std::string text = Clipped(Head(answer), style.width) + "\n";
  std::vector<std::string> starts = {StartLine(wait, now), SlurmLine(wait, now)};
  // `accuracy` says that nothing is known yet, and so does the line under a ranking.
  if (outlook.forecast.accuracy_known.value_or(false)) starts.push_back(outlook.forecast.note);
  AddBlock("Start", starts, style, text);
  if (outlook.moved) {
    AddBlock("What moved its start", MovedLines(*outlook.moved, now), style, text);
  }
  std::vector<std::string> why;
  for (const api::WhyPending& reason : answer.why) {
    why.push_back(reason.words + (reason.clears.empty() ? "" : " → " + reason.clears));
  }
  if (outlook.priority_factors) why.push_back(PriorityLine(*outlook.priority_factors));
  AddBlock("Why it waits → what ends the wait", why, style, text);
  std::vector<std::string> cheaper;
  if (answer.limits && !answer.limits->limit_advice.command.empty()) {
    cheaper.push_back(answer.limits->limit_advice.words);
    cheaper.push_back("→ " + answer.limits->limit_advice.command);
  }
  for (const api::EarlierStart& one : answer.cheaper) cheaper.push_back(one.words);
  AddBlock("What would start it earlier", cheaper, style, text);
  return text;
}

std::string RunningText(const api::Answer<api::Job>& answer, int64_t now,
                        const TerminalStyle& style) {
  const api::JobEnd end = answer.row.end.value_or(api::JobEnd());
  std::string text = Clipped(Head(answer), style.width) + "\n";
  if (end.start_time) text += fmt::format("  runs since {}\n", ClockTime(*end.start_time, now));
  if (end.end_p50) {
    text += fmt::format("  ends {}\n",
                        ClockRange(*end.end_p50, end.end_p90.value_or(*end.end_p50), now));
  }
  if (end.end_time) {
    text += fmt::format("  ends by its limit {}\n", ClockTime(*end.end_time, now));
  }
  return text;
}

std::string WhyText(const api::Answer<api::Job>& answer, int64_t now, const TerminalStyle& style) {
  std::string text = answer.row.state == "PENDING" ? WaitingText(answer, now, style)
                                                   : RunningText(answer, now, style);
  text += DoubtText(answer.frame, style);
  for (const std::string& warning : answer.frame.warnings) {
    text += Yellow("Warning: " + warning, style.colour) + "\n";
  }
  return text;
}

struct WhyCommand {
  std::string job_id;
};

int Run(WhyCommand& command, const CommandContext& context) {
  // Tasks that wait are one job: "18_[1-3]".
  const std::string id = command.job_id.substr(0, command.job_id.find("_["));
  const Result<json> answer = context.api.Get("/v1/jobs/" + id);
  return PrintAnswer<api::Job>(answer, context.console, [&](const auto& job, const auto& style) {
    return WhyText(job, context.console.now(), style);
  });
}

void AddOptions(WhyCommand& command, Options& options) {
  options.Required("JOBID", command.job_id, "Job id, also 4711_3 and 4711+1", CheckAnyJobId);
  options.JsonAndPlace();
}

}  // namespace

Command MakeWhyCommand() {
  return MakeCommand<WhyCommand>(
      "why", "Why a job waits, when it starts, and what would start it earlier", AddOptions, Run);
}

}  // namespace gpuadvise::client
