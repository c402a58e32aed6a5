#include "client/views/job_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "client/api/answer_reader.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/experiment_words.h"
#include "common/api/advice.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using Lines = std::vector<std::string>;

constexpr size_t kAttemptsShown = 20;

std::string Head(const api::Experiment& job) {
  const std::string partition = job.promise.partition.value_or("");
  const std::string qos = job.promise.qos.value_or("");
  std::string head = fmt::format("Job {}", job.job_id);
  for (const std::string& part :
       {job.name, GpusWords(job), partition.empty() ? "" : "partition " + partition,
        qos.empty() ? "" : "QOS " + qos, StateWords(job)}) {
    if (!part.empty()) head += " · " + part;
  }
  return head;
}

// ": 4 % less than forecast".
std::string Difference(double said, double real) {
  if (said <= 0) return {};
  const double percent = 100 * RelativeError(said, real);
  if (std::abs(percent) < 1) return ": as forecast";
  return fmt::format(": {:.0f} % {} than forecast", std::min(std::abs(percent), 1e6),
                     percent < 0 ? "less" : "more");
}

std::string WaitLine(const api::Experiment& job) {
  const api::Promise& promise = job.promise;
  const std::string said =
      ForecastWords(promise.wait_p50_seconds, promise.wait_p90_seconds, WaitRange);
  const auto real = KnownSeconds(job.wait_seconds);
  if (!real && said.empty()) return {};
  if (!real) return (said.starts_with("now") ? "forecast to start " : "forecast to wait ") + said;
  std::string line = "waited " + DurationInWords(*real);
  if (said.empty()) return line;
  line += ", said " + said;
  const auto held = WaitHeld(job);
  if (!held) return line;
  return line + (*held ? ": within the p90" : ": longer than the p90");
}

std::string RunLine(const api::Experiment& job, int64_t now) {
  const api::Promise& promise = job.promise;
  const std::string said =
      ForecastWords(promise.run_p50_seconds, promise.run_p90_seconds, DurationRange);
  const std::string behind = said.empty() ? "" : ", said " + said;
  const auto started = KnownTime(job.started_at);
  if (!HasEnded(job) && started && *started <= now) {
    return "runs for " + DurationInWords(static_cast<double>(now - *started)) + behind;
  }
  const auto real = KnownSeconds(job.run_seconds);
  if (!real) return said.empty() ? "" : "forecast to run " + said;
  const std::string line = "ran " + DurationInWords(*real) + behind;
  if (said.empty() || HasFailed(job)) return line;
  return line + Difference(static_cast<double>(promise.run_p50_seconds.value_or(0)), *real);
}

Lines TimeLines(const api::Experiment& job, int64_t now) {
  Lines lines;
  for (const auto& [words, time] : {std::pair{"submitted", std::optional(job.submitted_at)},
                                    {"started", job.started_at},
                                    {"ended", job.ended_at}}) {
    const int64_t known = KnownTime(time).value_or(0);
    if (known > 0) lines.push_back(fmt::format("{} {}", words, ClockTime(known, now)));
  }
  for (std::string line : {WaitLine(job), RunLine(job, now)}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (const auto limit = KnownSeconds(job.promise.time_limit_seconds)) {
    lines.push_back("time limit " + FormatDuration(static_cast<int64_t>(*limit)) +
                    (job.limit_used ? fmt::format(", {:.0f} % used", 100 * *job.limit_used) : ""));
  }
  return lines;
}

Lines BatchLines(const api::Experiment& job) {
  Lines lines;
  const std::string precision = job.promise.precision.value_or("");
  if (const std::string batch = BatchWords(job, true); !batch.empty()) {
    lines.push_back("batch " + batch + " (micro-batch × accumulation × GPUs)" +
                    (precision.empty() ? "" : ", " + precision));
  }
  const auto planned = KnownCount(job.promise.micro_batch);
  const auto final_micro = KnownCount(job.measured.final_micro_batch);
  if (planned && final_micro && *planned != *final_micro) {
    lines.push_back(fmt::format("advised micro-batch {} × {}", *planned,
                                KnownCount(job.promise.accumulation).value_or(1)));
  }
  if (const auto steps = KnownCount(job.promise.steps)) {
    lines.push_back(Grouped(*steps) + " steps planned");
  }
  if (const auto speed = KnownSeconds(job.measured.seconds_per_step)) {
    lines.push_back(fmt::format("{:.3g} s a step", *speed));
  }
  if (const auto loss = job.measured.loss) lines.push_back(fmt::format("last loss {:.4g}", *loss));
  return lines;
}

std::string MemoryLine(const api::Experiment& job) {
  const auto said = KnownBytes(job.promise.memory_bytes);
  const auto real = KnownBytes(job.measured.peak_memory_bytes);
  const auto card = KnownBytes(job.promise.gpu_memory_bytes);
  const std::string of = card ? " of " + GibWords(*card) + " GiB" : "";
  if (!real) return said ? "forecast to need " + GibWords(*said) + of + " per GPU" : "";
  std::string line = "peak memory " + GibWords(*real) + of + " per GPU";
  if (!said) return line;
  return line + ", said " + GibWords(*said) + " GiB" +
         Difference(static_cast<double>(*said), static_cast<double>(*real));
}

std::string CostLine(const api::Experiment& job) {
  const auto said = job.promise.cost;
  const auto real = job.real_cost;
  if (!said && !real) return {};
  std::string line = "cost " + CostWords(real ? *real : *said);
  if (job.promise.cost_is_billing) line += " billing hours";
  if (!real) return line + ", as forecast";
  return said ? line + ", said " + CostWords(*said) : line;
}

Lines UseLines(const api::Experiment& job) {
  Lines lines;
  if (std::string line = MemoryLine(job); !line.empty()) lines.push_back(std::move(line));
  const auto use = job.measured.mean_utilisation;
  if (use && *use >= 0 && *use <= 1) {
    lines.push_back(fmt::format("GPUs busy {:.0f} % of the time", 100 * *use));
  }
  if (std::string line = CostLine(job); !line.empty()) lines.push_back(std::move(line));
  return lines;
}

Lines AttemptLines(const api::Experiment& job, const Outcome& outcome, int64_t now) {
  Lines lines;
  const std::vector<Attempt>& attempts = outcome.attempts;
  const size_t first = attempts.size() > kAttemptsShown ? attempts.size() - kAttemptsShown : 0;
  if (first > 0) lines.push_back(fmt::format("{} earlier not shown", first));
  for (size_t i = first; i < attempts.size(); ++i) {
    const bool still_runs = RunsStill(job, outcome) && i + 1 == attempts.size();
    for (std::string& line : AttemptWords(attempts[i], i + 1, still_runs, now)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

Lines PlaceLines(const api::Experiment& job, const Outcome& outcome) {
  Lines lines;
  const std::string folder = ShownText(job.output_dir.value_or(""));
  if (!folder.empty()) lines.push_back("output in " + folder);
  if (!outcome.host.empty()) lines.push_back("measured on " + outcome.host);
  if (HasEnded(job) && !job.measured.has_outcome) {
    lines.push_back(
        "not measured: start the training with `gpuadvise run -- …`, or import its "
        "gpuadvise-outcome.json with `gpuadvise jobs --import FOLDER`");
  }
  return lines;
}

Lines AdviceLines(const api::Experiment& job) {
  if (!job.detail) return {};
  auto strategy = FromJson<api::Strategy>(job.detail->strategy, ShownText);
  Lines lines = std::move(strategy.reasons);
  std::ranges::move(strategy.notes, std::back_inserter(lines));
  return lines;
}

void AddBlock(const std::string& title, const Lines& lines, const TerminalStyle& style,
              std::string& text) {
  if (lines.empty()) return;
  text += "\n" + Bold(title, style.colour) + "\n";
  for (const std::string& line : lines) text += Indented(line, 2, style.width);
}

}  // namespace

std::string JobDetailText(const api::Experiment& job, int64_t now, const TerminalStyle& style) {
  const Outcome outcome = ReportedOutcome(job);
  std::string text = Clipped(Head(job), style.width) + "\n";
  if (const std::string next = NextStep(job); !next.empty()) text += Indented(next, 2, style.width);
  AddBlock("Times", TimeLines(job, now), style, text);
  AddBlock("Training", BatchLines(job), style, text);
  AddBlock("Use", UseLines(job), style, text);
  AddBlock("Starts of the command", AttemptLines(job, outcome, now), style, text);
  AddBlock("Results", PlaceLines(job, outcome), style, text);
  const std::string advice = job.advice_id.value_or("");
  AddBlock("Why this strategy" + (advice.empty() ? "" : " (" + advice + ")"), AdviceLines(job),
           style, text);
  return text;
}

}  // namespace gpuadvise::client
