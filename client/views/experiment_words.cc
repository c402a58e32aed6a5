#include "client/views/experiment_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_words.h"
#include "client/terminal/display.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr double kLongest = 1e10;  // seconds: three centuries
constexpr int64_t kLatest = 253'402'300'799;
constexpr int64_t kMostBytes = 1'000'000'000'000'000'000;
constexpr int64_t kMost = 1'000'000'000'000;

template <typename T>
std::optional<T> Within(std::optional<T> value, T low, T high) {
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

std::optional<int64_t> KnownSteps(std::optional<int64_t> steps) {  // the first may not be done
  return Within<int64_t>(steps, 0, kMost);
}

}  // namespace

std::vector<api::Experiment> ReadExperiments(const json& answer) {
  std::vector<api::Experiment> jobs = FromJson<api::Experiments>(answer, ShownText).jobs;
  const std::vector<api::Experiment> as_sent = FromJson<api::Experiments>(answer).jobs;
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].output_dir = as_sent[i].output_dir;
  return jobs;
}

std::optional<double> KnownSeconds(std::optional<double> seconds) {
  return Within(seconds, 0.0, kLongest);
}

std::optional<int64_t> KnownTime(std::optional<int64_t> time) {
  return Within<int64_t>(time, 0, kLatest);
}

std::optional<int64_t> KnownBytes(std::optional<int64_t> bytes) {
  return Within<int64_t>(bytes, 1, kMostBytes);
}

std::optional<int64_t> KnownCount(std::optional<int64_t> count) {
  return Within<int64_t>(count, 1, kMost);
}

std::string BatchWords(const api::Experiment& job, bool spaced) {
  const api::Promise& said = job.promise;
  const auto final_micro = KnownCount(job.measured.final_micro_batch);
  const auto micro = final_micro ? final_micro : KnownCount(said.micro_batch);
  const auto final_accumulation = KnownCount(job.measured.final_accumulation);
  const auto accumulation = final_accumulation ? final_accumulation : KnownCount(said.accumulation);
  const double gpus = static_cast<double>(KnownCount(said.gpus_per_node).value_or(1)) *
                      static_cast<double>(KnownCount(said.nodes).value_or(1));
  if (!micro || !accumulation || gpus > kMost) return {};
  const std::string product = fmt::format(
      fmt::runtime(spaced ? "{} × {} × {:.0f}" : "{}×{}×{:.0f}"), *micro, *accumulation, gpus);
  const auto effective = KnownCount(said.effective_batch_size);
  return effective ? product + (spaced ? " = " : "=") + std::to_string(*effective) : product;
}

bool HasEnded(const api::Experiment& job) { return job.state == "ended"; }

// Slurm's word if Slurm ended it: "timeout", "cancelled", "node fail".
std::string EndedBySlurm(const api::Experiment& job) {
  const std::string state = job.slurm_state.value_or("");
  if (IsOneOf(state, {"", "COMPLETED", "FAILED"})) return {};
  return ReplaceAll(LowerCase(state), "_", " ");
}

bool HasFailed(const api::Experiment& job) {
  if (!HasEnded(job)) return false;
  return job.measured.exit_code.value_or(0) != 0 || job.measured.signal.value_or(0) != 0 ||
         !EndedBySlurm(job).empty();
}

std::string StateWords(const api::Experiment& job) {
  const api::Measured& measured = job.measured;
  if (!HasEnded(job)) return job.state.empty() ? "unknown" : job.state;
  if (HasFailed(job) && measured.attempts > 0 && measured.out_of_memory >= measured.attempts) {
    return "out of memory";
  }
  if (const std::string by_slurm = EndedBySlurm(job); !by_slurm.empty()) return by_slurm;
  if (const int64_t signal = measured.signal.value_or(0); signal != 0) {
    return fmt::format("signal {}", signal);
  }
  if (!measured.exit_code) {
    return job.slurm_state == "COMPLETED" ? "ok" : job.slurm_state == "FAILED" ? "failed" : "ended";
  }
  return *measured.exit_code == 0 ? "ok" : fmt::format("exit {}", *measured.exit_code);
}

std::string NextStep(const api::Experiment& job) {
  if (StateWords(job) != "out of memory") return {};
  if (job.slurm_state == "OUT_OF_MEMORY") {
    return "next: the node's memory ran out, not the GPU's: a larger resources.mem_per_gpu, or "
           "fewer dataloader workers";
  }
  if (job.measured.final_micro_batch == 1) {
    return "next: not even one sample fitted there; `gpuadvise fit` shows what saves memory";
  }
  if (job.measured.attempts > 1) return "next: ask `gpuadvise advise` again, which knows of it";
  return "next: ask `gpuadvise advise` again, which knows of it; with training.retry_on_oom: true "
         "the job halves its batch itself";
}

std::string GpusWords(const api::Experiment& job) {
  const api::Promise& said = job.promise;
  if (said.gpu.value_or("").empty()) return "–";
  return StrategyName(*said.gpu, said.gpus_per_node.value_or(1), said.nodes.value_or(1));
}

std::string ForecastWords(std::optional<int64_t> p50, std::optional<int64_t> p90,
                          std::string (*range)(double, double)) {
  const auto likely = KnownSeconds(p50);
  return likely ? range(*likely, KnownSeconds(p90).value_or(*likely)) : "";
}

double RelativeError(double forecast, double actual) { return (actual - forecast) / forecast; }

std::optional<bool> WaitHeld(const api::Experiment& job) {
  constexpr double kAtOnceSeconds = 60;  // polls and launching take as long
  const auto late = KnownSeconds(job.promise.wait_p90_seconds);
  const auto real = KnownSeconds(job.wait_seconds);
  if (!late || !real) return {};
  return *real <= std::max(*late, kAtOnceSeconds);
}

std::string GibWords(int64_t bytes) {
  const double gib = static_cast<double>(bytes) / (1 << 30);
  return fmt::format(fmt::runtime(gib < 100 ? "{:.1f}" : "{:.0f}"), gib);
}

std::string CostWords(double cost) {
  if (std::abs(cost) >= 1e12) return fmt::format("{:.3g}", cost);
  return fmt::format(fmt::runtime(std::abs(cost) < 100 ? "{:.2f}" : "{:.0f}"), cost);
}

namespace {

constexpr size_t kGpusShown = 16;

std::string EndWords(const Attempt& attempt, bool still_runs) {
  if (still_runs) return "runs";
  if (attempt.out_of_memory) return "out of memory";
  if (attempt.signal != 0) return fmt::format("ended by signal {}", attempt.signal);
  return fmt::format("exit {}", attempt.exit_code);
}

std::string GpuLine(const GpuUse& gpu, size_t index) {
  std::vector<std::string> words;
  const auto total = KnownBytes(gpu.memory_total_bytes);
  if (const auto peak = KnownBytes(gpu.peak_memory_bytes)) {
    words.push_back("peak " + GibWords(*peak) + (total ? " of " + GibWords(*total) : "") + " GiB");
  }
  if (const auto use = Within(gpu.mean_utilisation, 0.0, 1.0)) {
    words.push_back(fmt::format("busy {:.0f} %", 100 * *use));
  }
  if (const auto watts = Within(gpu.mean_watts, 0.0, 1e6)) {
    words.push_back(fmt::format("{:.0f} W", *watts));
  }
  return fmt::format("   GPU {}:{}{}", index, words.empty() ? "" : " ", Join(words, ", "));
}

}  // namespace

Outcome ReportedOutcome(const api::Experiment& job) {
  return job.detail ? FromJson<Outcome>(job.detail->outcome, ShownText) : Outcome();
}

std::vector<std::string> AttemptWords(const Attempt& attempt, size_t number, bool still_runs,
                                      int64_t now) {
  std::string line = fmt::format("{}  ", number);
  const int64_t began = KnownTime(attempt.began).value_or(0);
  if (began > 0) line += ClockTime(began, now) + ", ";
  line += DurationInWords(KnownSeconds(attempt.seconds).value_or(0)) + ": ";
  if (const auto micro = KnownCount(attempt.micro_batch)) {
    line +=
        fmt::format("micro-batch {} × {}, ", *micro, KnownCount(attempt.accumulation).value_or(1));
  }
  line += EndWords(attempt, still_runs);
  if (const std::string progress = ProgressWords(attempt, still_runs); !progress.empty()) {
    line += " · " + progress;
  }
  std::vector<std::string> lines = {line};
  const std::vector<GpuUse>& gpus = attempt.gpus;
  for (size_t i = 0; i < std::min(gpus.size(), kGpusShown); ++i) {
    lines.push_back(GpuLine(gpus[i], i));
  }
  if (gpus.size() > kGpusShown) {
    lines.push_back(fmt::format("   and {} more GPUs", gpus.size() - kGpusShown));
  }
  return lines;
}

std::string ProgressWords(const Attempt& attempt, bool still_runs) {
  std::vector<std::string> words;
  const auto steps = KnownSteps(attempt.steps);
  const auto total = KnownSteps(attempt.total_steps);
  if (steps) words.push_back("step " + Grouped(*steps) + (total ? "/" + Grouped(*total) : ""));
  const auto speed = KnownSeconds(attempt.seconds_per_step);
  if (speed) words.push_back(fmt::format("{:.3g} s a step", *speed));
  if (still_runs && speed && steps && total && *total > *steps) {
    const double left = *speed * static_cast<double>(*total - *steps);
    words.push_back(DurationInWords(left) + " left");
  }
  if (attempt.loss) words.push_back(fmt::format("loss {:.4g}", *attempt.loss));
  return Join(words, " · ");
}

std::optional<double> ProgressOf(const Attempt& attempt) {
  const auto steps = KnownSteps(attempt.steps);
  const auto total = KnownSteps(attempt.total_steps);
  if (!steps || !total || *total == 0) return {};
  return std::min(1.0, static_cast<double>(*steps) / static_cast<double>(*total));
}

bool RunsStill(const api::Experiment& job, const Outcome& outcome) {
  return !HasEnded(job) && (job.measured.outcome_running || outcome.running);
}

}  // namespace gpuadvise::client
