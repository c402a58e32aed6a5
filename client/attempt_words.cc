#include "client/attempt_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/answer_reader.h"
#include "client/display.h"
#include "client/experiment_words.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr size_t kGpusShown = 16;

std::string EndWords(const json& attempt, bool still_runs) {
  if (still_runs) return "runs";
  if (IsTrue(attempt, "out_of_memory")) return "out of memory";
  if (const int64_t signal = IntOf(attempt, "signal"); signal != 0) {
    return fmt::format("ended by signal {}", signal);
  }
  return fmt::format("exit {}", IntOf(attempt, "exit_code"));
}

std::string GpuLine(const json& gpu, size_t index) {
  std::string line = fmt::format("   GPU {}:", index);
  const char* separator = " ";
  const auto add = [&](const std::string& words) {
    line += separator + words;
    separator = ", ";
  };
  const auto total = BytesOf(gpu, "memory_total_bytes");
  if (const auto peak = BytesOf(gpu, "peak_memory_bytes")) {
    add("peak " + GibWords(*peak) + (total ? " of " + GibWords(*total) : "") + " GiB");
  }
  const auto use = OptionalNumber(gpu, "mean_utilisation");
  if (use && *use >= 0 && *use <= 1) add(fmt::format("busy {:.0f} %", 100 * *use));
  const auto watts = OptionalNumber(gpu, "mean_watts");
  if (watts && *watts >= 0 && *watts < 1e6) add(fmt::format("{:.0f} W", *watts));
  return line;
}

// Steps from 0: the first one may not be done.
std::optional<int64_t> StepsOf(const json& attempt, const char* key) {
  const auto steps = OptionalNumber(attempt, key);
  if (!steps || *steps < 0 || *steps > 1e12) return {};
  return static_cast<int64_t>(*steps);
}

}  // namespace

std::vector<std::string> AttemptWords(const json& attempt, size_t number, bool still_runs,
                                      int64_t now) {
  std::string line = fmt::format("{}  ", number);
  if (const auto began = MomentOf(attempt, "began")) line += ClockTime(*began, now) + ", ";
  line += ElapsedWords(SecondsOf(attempt, "seconds").value_or(0)) + ": ";
  if (const auto micro = CountOf(attempt, "micro_batch")) {
    line +=
        fmt::format("micro-batch {} × {}, ", *micro, CountOf(attempt, "accumulation").value_or(1));
  }
  line += EndWords(attempt, still_runs);
  if (const std::string progress = ProgressWords(attempt, still_runs); !progress.empty()) {
    line += " · " + progress;
  }
  std::vector<std::string> lines = {line};
  const json& gpus = ListOf(attempt, "gpus");
  for (size_t i = 0; i < std::min(gpus.size(), kGpusShown); ++i) {
    lines.push_back(GpuLine(gpus[i], i));
  }
  if (gpus.size() > kGpusShown) {
    lines.push_back(fmt::format("   and {} more GPUs", gpus.size() - kGpusShown));
  }
  return lines;
}

std::string ProgressWords(const json& attempt, bool still_runs) {
  std::string words;
  const auto add = [&](const std::string& part) { words += (words.empty() ? "" : " · ") + part; };
  const auto steps = StepsOf(attempt, "steps");
  const auto total = StepsOf(attempt, "total_steps");
  if (steps && total) {
    add(fmt::format("step {}/{}", Grouped(*steps), Grouped(*total)));
  } else if (steps) {
    add("step " + Grouped(*steps));
  }
  const auto speed = SecondsOf(attempt, "seconds_per_step");
  if (speed) add(fmt::format("{:.3g} s a step", *speed));
  if (still_runs && speed && steps && total && *total > *steps) {
    const double left = *speed * static_cast<double>(*total - *steps);
    add((left < 30 ? "under a minute" : DurationInWords(left)) + " left");
  }
  if (const auto loss = OptionalNumber(attempt, "loss")) add(fmt::format("loss {:.4g}", *loss));
  return words;
}

std::optional<double> ProgressOf(const json& attempt) {
  const auto steps = StepsOf(attempt, "steps");
  const auto total = StepsOf(attempt, "total_steps");
  if (!steps || !total || *total == 0) return {};
  return std::min(1.0, static_cast<double>(*steps) / static_cast<double>(*total));
}

bool RunsStill(const json& job) {
  return !HasEnded(job) &&
         (IsTrue(job, "outcome_running") || IsTrue(ObjectOf(job, "outcome"), "running"));
}

}  // namespace gpuadvise
