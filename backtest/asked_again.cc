#include "backtest/asked_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "common/base/statistics.h"

namespace gpuadvise::backtest {
namespace {

constexpr double kForEver = 1e12;
constexpr std::array<double, 6> kAges = {0, 600, 3'600, 14'400, 43'200, kForEver};
constexpr double kShownLeft = 60;     // coverage is about forecasts whose p90 is longer
constexpr double kJumpSeconds = 600;  // a p50 that moves less is noise to its reader …
constexpr double kJumpShare = 0.25;   // … and so is one that moves less than this share of itself

// Sums over questions, each with its weight.
struct Sums {
  int64_t asked = 0;
  double shown = 0;
  std::array<double, 3> below{};
  std::vector<std::pair<double, double>> errors;
  double moved = 0;
  double passed = 0;
  double followed = 0;
  double jumped = 0;
};

void AddOne(Sums& sums, const AskedAgain& one) {
  ++sums.asked;
  if (!one.started) return;
  sums.errors.emplace_back(std::abs(one.p50 - one.left), one.weight);
  if (one.p90 <= kShownLeft) return;
  sums.shown += one.weight;
  const std::array said = {one.p10, one.p50, one.p90};
  for (size_t i = 0; i < said.size(); ++i) {
    if (one.left <= said[i]) sums.below[i] += one.weight;
  }
}

// `next`: null where the job starts before it is asked about again.
void AddMove(Sums& sums, const AskedAgain& one, const AskedAgain* next) {
  if (next == nullptr) {
    if (!one.started) return;
    sums.moved += one.weight * (one.left - one.p50);
    sums.passed += one.weight * one.left;
    return;
  }
  const double passed = next->age - one.age;
  const double moved = passed + next->p50 - one.p50;
  sums.moved += one.weight * moved;
  sums.passed += one.weight * passed;
  sums.followed += one.weight;
  if (std::abs(moved) > std::max(kJumpSeconds, kJumpShare * one.p50)) sums.jumped += one.weight;
}

AgainScores ScoresOf(double from, double to, Sums sums) {
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  AgainScores scores;
  scores.from = from;
  scores.to = to;
  scores.asked = sums.asked;
  scores.coverage_p10 = share(sums.below[0], sums.shown);
  scores.coverage_p50 = share(sums.below[1], sums.shown);
  scores.coverage_p90 = share(sums.below[2], sums.shown);
  scores.median_abs_error = WeightedMedianOf(std::move(sums.errors));
  scores.drift = share(sums.moved, sums.passed);
  scores.jumps = share(sums.jumped, sums.followed);
  return scores;
}

}  // namespace

AskedAgain AskedAgainOf(const StartSamples& said) {
  AskedAgain one;
  one.p10 = said.Quantile(0.1);
  one.p50 = said.Quantile(0.5);
  one.p90 = said.Quantile(0.9);
  return one;
}

std::vector<AgainScores> ScoresByAge(const std::vector<AskedAgain>& said) {
  std::unordered_map<int64_t, const AskedAgain*> next;  // by job
  std::array<Sums, kAges.size()> sums;                  // the last: of all
  for (auto one = said.rbegin(); one != said.rend(); ++one) {
    const auto bucket = static_cast<size_t>(std::upper_bound(kAges.begin(), kAges.end(), one->age) -
                                            kAges.begin() - 1);
    const AskedAgain*& later = next[one->job_id];
    for (Sums* each : {&sums[bucket], &sums.back()}) {
      AddOne(*each, *one);
      AddMove(*each, *one, later);
    }
    later = &*one;
  }
  std::vector<AgainScores> scores;
  for (size_t i = 0; i < sums.size(); ++i) {
    const bool all = i + 1 == sums.size();
    if (sums[i].asked == 0) continue;
    scores.push_back(
        ScoresOf(all ? 0 : kAges[i], all ? kForEver : kAges[i + 1], std::move(sums[i])));
  }
  return scores;
}

std::string AgainTable(const std::vector<AgainScores>& scores) {
  std::string text =
      fmt::format("\nasked again while they waited\n  {:<17}{:>9}  {:<20}{:>10} {:>7} {:>7}\n",
                  "age", "asked", "covers p10, p50, p90", "MAE s", "drift", "jumps");
  for (const AgainScores& s : scores) {
    const std::string age = s.to < kForEver
                                ? fmt::format("{:.0f} .. {:.0f} min", s.from / 60, s.to / 60)
                            : s.from > 0 ? fmt::format("{:.0f} min ..", s.from / 60)
                                         : "all";
    text += fmt::format("  {:<17}{:>9}  {:.3f} {:.3f} {:.3f}   {:>10.0f} {:>+7.3f} {:>7.3f}\n", age,
                        s.asked, s.coverage_p10, s.coverage_p50, s.coverage_p90, s.median_abs_error,
                        s.drift, s.jumps);
  }
  return text;
}

nlohmann::json AgainJson(const std::vector<AgainScores>& scores) {
  nlohmann::json all = nlohmann::json::array();
  for (const AgainScores& s : scores) {
    all.push_back({{"from_age_seconds", s.from},
                   {"asked", s.asked},
                   {"coverage_p10", s.coverage_p10},
                   {"coverage_p50", s.coverage_p50},
                   {"coverage_p90", s.coverage_p90},
                   {"median_abs_error_seconds", s.median_abs_error},
                   {"drift", s.drift},
                   {"jumps", s.jumps}});
    if (s.to < kForEver) all.back()["to_age_seconds"] = s.to;
  }
  return all;
}

}  // namespace gpuadvise::backtest
