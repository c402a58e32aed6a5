#include "client/questions/better_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

constexpr double kLeastShare = 0.10;
constexpr double kLeastSeconds = 600;

// Equally likely values of a distribution with these quantiles: linear between and beyond them,
// none below 0.
std::vector<double> DrawValues(double p10, double p50, double p90) {
  constexpr int kDraws = 20;
  constexpr double kTenths = 0.4;  // probability between the median and either of the others
  std::vector<double> draws;
  for (int i = 0; i < kDraws; ++i) {
    const double beyond = ((i + 0.5) / kDraws - 0.5) / kTenths;  // -1 at p10, 1 at p90
    draws.push_back(std::max(0.0, p50 + beyond * (beyond < 0 ? p50 - p10 : p90 - p50)));
  }
  return draws;
}

bool IsOwn(const api::Strategy& strategy, const api::Experiment& job) {
  const api::Promise& said = job.promise;
  const std::string gpu =
      job.detail ? FromJson<api::Strategy>(job.detail->strategy, ShownText).gpu : "";
  const bool same_gpu =
      gpu.empty() ? strategy.gpu_name == said.gpu.value_or("") : strategy.gpu == gpu;
  return same_gpu && strategy.partition == said.partition.value_or("") &&
         strategy.gpus_per_node == said.gpus_per_node.value_or(1) &&
         strategy.nodes == said.nodes.value_or(1);
}

// For the objective cost, an earlier end does not justify a higher cost.
bool CostsMore(const api::Advice& advice, const api::Strategy& strategy,
               const api::Experiment& job) {
  if (advice.objective != "cost") return false;
  const auto own = job.promise.cost;
  return !strategy.cost || !own || *strategy.cost > *own;
}

std::string SubmitWords(const api::Strategy& strategy) {
  std::string words = "gpuadvise submit FILE";
  if (!strategy.partition.empty()) words += " -p " + ShellQuoted(strategy.partition);
  if (!strategy.sbatch.gres.empty()) words += " --gres " + ShellQuoted(strategy.sbatch.gres);
  return strategy.nodes > 1 ? words + fmt::format(" -N {}", strategy.nodes) : words;
}

}  // namespace

std::optional<ExpectedEnd> ForecastEnd(const api::Seconds& waits, const api::Experiment& job) {
  const auto wait_p50 = KnownSeconds(waits.p50_seconds);
  const auto wait_p90 = KnownSeconds(waits.p90_seconds);
  const auto run_p50 = KnownSeconds(job.promise.run_p50_seconds);
  if (!wait_p50 || !wait_p90 || !run_p50) return {};
  const double wait_p10 = KnownSeconds(waits.p10_seconds).value_or(*wait_p50);
  const double run_p90 =
      std::max(*run_p50, KnownSeconds(job.promise.run_p90_seconds).value_or(*run_p50));
  const double run_p10 = run_p90 > 0 ? *run_p50 * (*run_p50 / run_p90) : 0;  // log-normal
  std::vector<double> ends;
  for (const double wait : DrawValues(wait_p10, *wait_p50, *wait_p90)) {
    for (const double run : DrawValues(run_p10, *run_p50, run_p90)) ends.push_back(wait + run);
  }
  std::sort(ends.begin(), ends.end());
  return ExpectedEnd{InterpolatedQuantile(ends, .5), InterpolatedQuantile(ends, .9)};
}

const api::Strategy* ClearlyBetter(const api::Advice& advice, const api::Experiment& job,
                                   const ExpectedEnd& own) {
  for (const api::Strategy& strategy : advice.strategies) {
    const auto likely = static_cast<double>(strategy.total.p50_seconds);
    const auto late = static_cast<double>(strategy.total.p90_seconds);
    if (likely <= 0 || late <= 0 || late > own.p90_seconds) continue;
    const double earlier = own.p50_seconds - likely;
    if (earlier <= kLeastSeconds || earlier <= kLeastShare * own.p50_seconds) continue;
    if (!IsOwn(strategy, job) && !CostsMore(advice, strategy, job)) return &strategy;
  }
  return nullptr;
}

std::string BetterSentence(const api::Strategy& strategy, const api::Experiment& job,
                           const ExpectedEnd& own, int64_t now) {
  const api::Seconds& total = strategy.total;
  return fmt::format("{} is now better: done {}, {} before this job: scancel {} && {}",
                     StrategyName(strategy),
                     ClockRange(now + total.p50_seconds, now + total.p90_seconds, now),
                     DurationInWords(own.p50_seconds - static_cast<double>(total.p50_seconds)),
                     job.job_id, SubmitWords(strategy));
}

}  // namespace gpuadvise::client
