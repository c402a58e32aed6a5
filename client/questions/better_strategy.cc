#include "client/questions/better_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_words.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"
#include "client/views/experiment_words.h"
#include "common/base/statistics.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr double kLeastShare = 0.10;
constexpr double kLeastSeconds = 600;

// Equally likely values of what is known by its median and its 90th percentile (and its 10th):
// straight lines between and beyond them, none below 0.
std::vector<double> DrawsOf(double p10, double p50, double p90) {
  constexpr int kDraws = 20;
  constexpr double kTenths = 0.4;  // from the median to either of the others
  std::vector<double> draws;
  for (int i = 0; i < kDraws; ++i) {
    const double beyond = ((i + 0.5) / kDraws - 0.5) / kTenths;  // -1 at p10, 1 at p90
    draws.push_back(std::max(0.0, p50 + beyond * (beyond < 0 ? p50 - p10 : p90 - p50)));
  }
  return draws;
}

bool IsOwn(const json& strategy, const json& job) {
  const json& own = ObjectOf(job, "strategy");
  const std::string gpu = TextOf(own, "gpu");
  const bool same_gpu = gpu.empty() ? TextOf(strategy, "gpu_name") == TextOf(job, "gpu")
                                    : TextOf(strategy, "gpu") == gpu;
  return same_gpu && TextOf(strategy, "partition") == TextOf(job, "partition") &&
         IntOf(strategy, "gpus_per_node", 1) == IntOf(job, "gpus_per_node", 1) &&
         IntOf(strategy, "nodes", 1) == IntOf(job, "nodes", 1);
}

// Where cost was the aim, being earlier is no reason to pay more.
bool CostsMore(const json& answer, const json& strategy, const json& job) {
  if (TextOf(answer, "objective") != "cost") return false;
  const auto cost = OptionalNumber(strategy, "cost");
  const auto own = OptionalNumber(job, "cost");
  return !cost || !own || *cost > *own;
}

std::string SubmitWords(const json& strategy) {
  const json& sbatch = ObjectOf(strategy, "sbatch");
  std::string words = "gpuadvise submit FILE";
  if (const std::string partition = TextOf(strategy, "partition"); !partition.empty()) {
    words += " -p " + ShellQuoted(partition);
  }
  if (const std::string gres = TextOf(sbatch, "gres"); !gres.empty()) {
    words += " --gres " + ShellQuoted(gres);
  }
  const int64_t nodes = IntOf(strategy, "nodes", 1);
  return nodes > 1 ? words + fmt::format(" -N {}", nodes) : words;
}

}  // namespace

std::optional<ExpectedEnd> ExpectedEndOf(const json& waiting, const json& job) {
  const auto wait_p50 = SecondsOf(waiting, "wait_p50_seconds");
  const auto wait_p90 = SecondsOf(waiting, "wait_p90_seconds");
  const auto run_p50 = SecondsOf(job, "run_p50_seconds");
  if (!wait_p50 || !wait_p90 || !run_p50) return {};
  const double wait_p10 = SecondsOf(waiting, "wait_p10_seconds").value_or(*wait_p50);
  const double run_p90 = std::max(*run_p50, SecondsOf(job, "run_p90_seconds").value_or(*run_p50));
  const double run_p10 = run_p90 > 0 ? *run_p50 * (*run_p50 / run_p90) : 0;  // log-normal
  std::vector<double> ends;
  for (const double wait : DrawsOf(wait_p10, *wait_p50, *wait_p90)) {
    for (const double run : DrawsOf(run_p10, *run_p50, run_p90)) ends.push_back(wait + run);
  }
  std::sort(ends.begin(), ends.end());
  return ExpectedEnd{QuantileOf(ends, .5), QuantileOf(ends, .9)};
}

const json* ClearlyBetter(const json& answer, const json& job, const ExpectedEnd& own) {
  for (const json& strategy : ListOf(answer, "strategies")) {
    const auto likely = SecondsOf(strategy, "total_p50_seconds");
    const auto late = SecondsOf(strategy, "total_p90_seconds");
    if (!likely || !late || *late > own.p90_seconds) continue;
    const double earlier = own.p50_seconds - *likely;
    if (earlier <= kLeastSeconds || earlier <= kLeastShare * own.p50_seconds) continue;
    if (!IsOwn(strategy, job) && !CostsMore(answer, strategy, job)) return &strategy;
  }
  return nullptr;
}

std::string BetterSentence(const json& strategy, const json& job, const ExpectedEnd& own,
                           int64_t now) {
  const double likely = NumberOf(strategy, "total_p50_seconds");
  const double late = SecondsOf(strategy, "total_p90_seconds").value_or(likely);
  return fmt::format(
      "{} is now better: done {}, {} before this job: scancel {} && {}", StrategyName(strategy),
      ClockRange(now + std::llround(likely), now + std::llround(late), now),
      DurationInWords(own.p50_seconds - likely), IntOf(job, "job_id"), SubmitWords(strategy));
}

}  // namespace gpuadvise::client
