#include "client/experiment_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/advice_view.h"
#include "client/answer_reader.h"
#include "client/display.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr double kLongest = 1e10;  // seconds: three centuries
constexpr double kLatest = 253'402'300'799;
constexpr double kMostBytes = 1e18;
constexpr double kMost = 1e12;

std::optional<double> Within(const json& job, const char* key, double low, double high) {
  const auto number = OptionalNumber(job, key);
  return number && *number >= low && *number <= high ? number : std::nullopt;
}

std::optional<int64_t> Whole(std::optional<double> number) {
  if (!number) return {};
  return std::llround(*number);
}

}  // namespace

std::optional<double> SecondsOf(const json& job, const char* key) {
  return Within(job, key, 0, kLongest);
}

std::optional<int64_t> MomentOf(const json& job, const char* key) {
  return Whole(Within(job, key, 0, kLatest));
}

std::optional<int64_t> BytesOf(const json& job, const char* key) {
  return Whole(Within(job, key, 1, kMostBytes));
}

std::optional<int64_t> CountOf(const json& job, const char* key) {
  return Whole(Within(job, key, 1, kMost));
}

std::optional<JobBatch> BatchOf(const json& job) {
  const auto final_micro = CountOf(job, "final_micro_batch");
  const auto micro = final_micro ? final_micro : CountOf(job, "micro_batch");
  const auto final_steps = CountOf(job, "final_accumulation");
  const auto accumulation = final_steps ? final_steps : CountOf(job, "accumulation");
  const double gpus = static_cast<double>(CountOf(job, "gpus_per_node").value_or(1)) *
                      static_cast<double>(CountOf(job, "nodes").value_or(1));
  if (!micro || !accumulation || gpus > kMost) return {};
  return JobBatch{*micro, *accumulation, std::llround(gpus),
                  CountOf(job, "effective_batch_size").value_or(0)};
}

std::string BatchWords(const json& job, bool spaced) {
  const auto batch = BatchOf(job);
  if (!batch) return "–";
  const std::string product = fmt::format(fmt::runtime(spaced ? "{} × {} × {}" : "{}×{}×{}"),
                                          batch->micro_batch, batch->accumulation, batch->gpus);
  if (batch->effective == 0) return product;
  return product + (spaced ? " = " : "=") + std::to_string(batch->effective);
}

bool HasEnded(const json& job) { return TextOf(job, "state") == "ended"; }

// Slurm's word where Slurm ended it: "timeout", "cancelled", "node fail".
std::string EndedBySlurm(const json& job) {
  std::string state = TextOf(job, "slurm_state");
  if (state.empty() || state == "COMPLETED" || state == "FAILED") return {};
  for (char& c : state) {
    c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return state;
}

bool HasFailed(const json& job) {
  if (!HasEnded(job)) return false;
  return IntOf(job, "exit_code") != 0 || IntOf(job, "signal") != 0 || !EndedBySlurm(job).empty();
}

std::string StateWords(const json& job) {
  if (!HasEnded(job)) {
    const std::string state = TextOf(job, "state");
    return state.empty() ? "unknown" : state;
  }
  const auto exit_code = OptionalNumber(job, "exit_code");
  const int64_t attempts = IntOf(job, "attempts");
  if (HasFailed(job) && attempts > 0 && IntOf(job, "out_of_memory") >= attempts) {
    return "out of memory";
  }
  if (const std::string by_slurm = EndedBySlurm(job); !by_slurm.empty()) return by_slurm;
  if (const int64_t signal = IntOf(job, "signal"); signal != 0) {
    return fmt::format("signal {}", signal);
  }
  const std::string slurm = TextOf(job, "slurm_state");
  if (!exit_code) return slurm == "COMPLETED" ? "ok" : slurm == "FAILED" ? "failed" : "ended";
  return *exit_code == 0 ? "ok" : fmt::format("exit {}", IntOf(job, "exit_code"));
}

std::string GpusWords(const json& job) {
  return TextOf(job, "gpu").empty() ? "–" : StrategyName(job);
}

std::string SaidWords(const json& job, const char* likely_key, const char* late_key,
                      bool with_late) {
  const auto likely = SecondsOf(job, likely_key);
  const auto late = SecondsOf(job, late_key);
  if (!likely) return {};
  return with_late && late ? DurationRange(*likely, *late) : DurationInWords(*likely);
}

double ErrorOfSaid(double said, double real) { return (real - said) / said; }

std::optional<bool> WaitHeld(const json& job) {
  constexpr double kAtOnceSeconds = 60;  // polls and launching take as long
  const auto late = SecondsOf(job, "wait_p90_seconds");
  const auto real = SecondsOf(job, "wait_seconds");
  if (!late || !real) return {};
  return *real <= std::max(*late, kAtOnceSeconds);
}

std::string ElapsedWords(double seconds) {
  return seconds < 30 ? fmt::format("{:.0f} s", seconds) : DurationInWords(seconds);
}

std::string GibWords(int64_t bytes) {
  const double gib = static_cast<double>(bytes) / (1 << 30);
  return fmt::format(fmt::runtime(gib < 100 ? "{:.1f}" : "{:.0f}"), gib);
}

std::string CostWords(double cost) {
  if (std::abs(cost) >= 1e12) return fmt::format("{:.3g}", cost);
  return fmt::format(fmt::runtime(std::abs(cost) < 100 ? "{:.2f}" : "{:.0f}"), cost);
}

}  // namespace gpuadvise
