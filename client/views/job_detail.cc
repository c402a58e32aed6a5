#include "client/views/job_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/experiment_words.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

constexpr size_t kAttemptsShown = 20;

std::string Head(const json& job) {
  std::string head = fmt::format("Job {}", IntOf(job, "job_id"));
  const std::string partition = TextOf(job, "partition");
  const std::string qos = TextOf(job, "qos");
  for (const std::string& part :
       {TextOf(job, "name"), GpusWords(job), partition.empty() ? "" : "partition " + partition,
        qos.empty() ? "" : "QOS " + qos, StateWords(job)}) {
    if (!part.empty()) head += " · " + part;
  }
  return head;
}

// "; 4 % less than said".
std::string Difference(double said, double real, const char* less, const char* more) {
  if (said <= 0) return {};
  const double percent = 100 * RelativeError(said, real);
  if (std::abs(percent) < 1) return ": as forecast";
  return fmt::format(": {:.0f} % {} than forecast", std::min(std::abs(percent), 1e6),
                     percent < 0 ? less : more);
}

std::string WaitLine(const json& job) {
  const std::string said = ForecastWords(job, "wait_p50_seconds", "wait_p90_seconds", true);
  const auto real = SecondsOf(job, "wait_seconds");
  if (!real && said.empty()) return {};
  if (!real) return (said.starts_with("now") ? "forecast to start " : "forecast to wait ") + said;
  std::string line = "waited " + ElapsedWords(*real);
  if (said.empty()) return line;
  line += ", said " + said;
  const auto held = WaitHeld(job);
  if (!held) return line;
  return line + (*held ? ": within the p90" : ": longer than the p90");
}

std::string RunLine(const json& job, int64_t now) {
  const std::string said = ForecastWords(job, "run_p50_seconds", "run_p90_seconds", true);
  const auto started = TimeOf(job, "started_at");
  if (!HasEnded(job) && started && *started <= now) {
    return "runs for " + ElapsedWords(static_cast<double>(now - *started)) +
           (said.empty() ? "" : ", said " + said);
  }
  const auto real = SecondsOf(job, "run_seconds");
  if (!real) return said.empty() ? "" : "forecast to run " + said;
  std::string line = "ran " + ElapsedWords(*real);
  if (said.empty()) return line;
  line += ", said " + said;
  if (HasFailed(job)) return line;
  return line + Difference(NumberOf(job, "run_p50_seconds"), *real, "less", "more");
}

Lines TimeLines(const json& job, int64_t now) {
  Lines lines;
  for (const auto& [words, key] :
       {std::pair{"submitted", "submitted_at"}, {"started", "started_at"}, {"ended", "ended_at"}}) {
    const auto time = TimeOf(job, key);
    if (time) lines.push_back(fmt::format("{} {}", words, ClockTime(*time, now)));
  }
  for (std::string line : {WaitLine(job), RunLine(job, now)}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (const auto limit = SecondsOf(job, "time_limit_seconds")) {
    lines.push_back("time limit " + FormatDuration(static_cast<int64_t>(*limit)));
  }
  return lines;
}

Lines BatchLines(const json& job) {
  Lines lines;
  std::string line = "batch " + BatchWords(job, true) + " (micro-batch × accumulation × GPUs)";
  if (const std::string precision = TextOf(job, "precision"); !precision.empty()) {
    line += ", " + precision;
  }
  if (BatchOf(job)) lines.push_back(line);
  const auto planned = CountOf(job, "micro_batch");
  const auto final_micro = CountOf(job, "final_micro_batch");
  if (planned && final_micro && *planned != *final_micro) {
    lines.push_back(fmt::format("advised micro-batch {} × {}", *planned,
                                CountOf(job, "accumulation").value_or(1)));
  }
  if (const auto steps = CountOf(job, "steps")) lines.push_back(Grouped(*steps) + " steps planned");
  if (const auto speed = SecondsOf(job, "seconds_per_step")) {
    lines.push_back(fmt::format("{:.3g} s a step", *speed));
  }
  if (const auto loss = OptionalNumber(job, "loss")) {
    lines.push_back(fmt::format("last loss {:.4g}", *loss));
  }
  return lines;
}

std::string MemoryLine(const json& job) {
  const auto said = BytesOf(job, "memory_bytes");
  const auto real = BytesOf(job, "peak_memory_bytes");
  const auto card = BytesOf(job, "gpu_memory_bytes");
  const std::string of = card ? " of " + GibWords(*card) + " GiB" : "";
  if (!real) return said ? "forecast to need " + GibWords(*said) + of + " per GPU" : "";
  std::string line = "peak memory " + GibWords(*real) + of + " per GPU";
  if (!said) return line;
  return line + ", said " + GibWords(*said) + " GiB" +
         Difference(static_cast<double>(*said), static_cast<double>(*real), "less", "more");
}

std::string CostLine(const json& job) {
  const auto said = OptionalNumber(job, "cost");
  const auto real = OptionalNumber(job, "real_cost");
  if (!said && !real) return {};
  const auto billing = job.find("cost_is_billing");
  const bool is_billing = billing != job.end() && billing->is_boolean() && billing->get<bool>();
  std::string line = "cost " + CostWords(real ? *real : *said);
  if (is_billing) line += " billing hours";
  if (!real) return line + ", as forecast";
  return said ? line + ", said " + CostWords(*said) : line;
}

Lines UseLines(const json& job) {
  Lines lines;
  if (std::string line = MemoryLine(job); !line.empty()) lines.push_back(std::move(line));
  const auto use = OptionalNumber(job, "mean_utilisation");
  if (use && *use >= 0 && *use <= 1) {
    lines.push_back(fmt::format("GPUs busy {:.0f} % of the time", 100 * *use));
  }
  if (std::string line = CostLine(job); !line.empty()) lines.push_back(std::move(line));
  return lines;
}

Lines AttemptLines(const json& job, int64_t now) {
  Lines lines;
  const json& attempts = ListOf(ObjectOf(job, "outcome"), "attempts");
  const size_t first = attempts.size() > kAttemptsShown ? attempts.size() - kAttemptsShown : 0;
  if (first > 0) lines.push_back(fmt::format("{} earlier not shown", first));
  for (size_t i = first; i < attempts.size(); ++i) {
    const bool still_runs = RunsStill(job) && i + 1 == attempts.size();
    for (std::string& line : AttemptWords(attempts[i], i + 1, still_runs, now)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

Lines PlaceLines(const json& job) {
  Lines lines;
  if (const std::string folder = TextOf(job, "output_dir"); !folder.empty()) {
    lines.push_back("output in " + folder);
  }
  if (const std::string host = TextOf(ObjectOf(job, "outcome"), "host"); !host.empty()) {
    lines.push_back("measured on " + host);
  }
  const auto outcome = job.find("has_outcome");
  if (HasEnded(job) && outcome != job.end() && *outcome == false) {
    lines.push_back(
        "not measured: start the training with `gpuadvise run -- …`, or import its "
        "gpuadvise-outcome.json with `gpuadvise jobs --import FOLDER`");
  }
  return lines;
}

Lines AdviceLines(const json& job) {
  const json& strategy = ObjectOf(job, "strategy");
  Lines lines = TextsOf(strategy, "reasons");
  for (std::string& note : TextsOf(strategy, "notes")) lines.push_back(std::move(note));
  return lines;
}

void AddBlock(const std::string& title, const Lines& lines, const TerminalStyle& style,
              std::string& text) {
  if (lines.empty()) return;
  text += "\n" + Bold(title, style.colour) + "\n";
  for (const std::string& line : lines) text += Indented(line, 2, style.width);
}

}  // namespace

std::string JobDetailText(const json& job, int64_t now, const TerminalStyle& style) {
  std::string text = Clipped(Head(job), style.width) + "\n";
  AddBlock("Times", TimeLines(job, now), style, text);
  AddBlock("Training", BatchLines(job), style, text);
  AddBlock("Use", UseLines(job), style, text);
  AddBlock("Starts of the command", AttemptLines(job, now), style, text);
  AddBlock("Results", PlaceLines(job), style, text);
  const std::string advice = TextOf(job, "advice_id");
  AddBlock("Why this strategy" + (advice.empty() ? "" : " (" + advice + ")"), AdviceLines(job),
           style, text);
  return text;
}

}  // namespace gpuadvise::client
