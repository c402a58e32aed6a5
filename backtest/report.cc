#include "backtest/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/statistics.h"
#include "common/base/words.h"

namespace gpuadvise::backtest {
namespace {

using nlohmann::json;

constexpr uint64_t kBootstrapSeed = 5;

json ToJson(const Scores& scores) {
  return {{"crps_seconds", scores.crps_seconds},
          {"crps_log", scores.crps_log},
          {"median_abs_error_seconds", scores.median_abs_error_seconds},
          {"waited_abs_error_seconds", scores.waited_abs_error_seconds},
          {"within_60s", scores.within_60s},
          {"within_600s", scores.within_600s},
          {"within_3600s", scores.within_3600s},
          {"brier_60s", scores.brier_60s},
          {"coverage_p50", scores.coverage_p50},
          {"coverage_p90", scores.coverage_p90},
          {"place_p10", scores.place_p10},
          {"place_p50", scores.place_p50},
          {"place_p90", scores.place_p90},
          {"jobs", scores.jobs}};
}

json RatioJson(const std::vector<const Scored*>& jobs, Loss loss) {
  const Ratio ratio = RatioToBest(jobs, loss, kBootstrapSeed);
  json out = {{"best_baseline", ratio.best_baseline},
              {"ratio", ratio.ratio},
              {"low", ratio.low},
              {"high", ratio.high}};
  if (loss != Loss::kMedianAbsError) {
    out["worst_from_200th_job"] = WorstSoFar(jobs, loss);
    const AgainstParts against = ToBestPart(jobs, loss);
    out["best_part"] = against.best_part;
    out["to_best_part"] = against.ratio;
    out["worst_span_of_500"] = against.worst_span;
  }
  return out;
}

std::map<int64_t, std::vector<const Scored*>> ByWeek(const std::vector<Scored>& jobs) {
  std::map<int64_t, std::vector<const Scored*>> weeks;
  for (const Scored& job : jobs) weeks[job.week].push_back(&job);
  return weeks;
}

json WeeksJson(const BackTestResult& result) {
  json weeks = json::array();
  for (const auto& [week, jobs] : ByWeek(result.jobs)) {
    json one = {{"week", week}};
    for (size_t k = 0; k < kPredictors; ++k)
      one[kPredictorNames[k]] = ToJson(ComputeScores(jobs, k));
    weeks.push_back(std::move(one));
  }
  return weeks;
}

json IssuesJson(const std::map<std::string, LogIssue>& issues) {
  json all = json::array();
  for (const auto& [why, issue] : issues) {
    all.push_back({{"why", why}, {"rows", issue.rows}, {"first_line", issue.first_line}});
  }
  return all;
}

// Share of waits within each quantile, for forecasts whose p90 exceeds a minute.
json CalibrationJson(const BackTestResult& result) {
  json points = json::array();
  for (size_t i = 0; i < kScoredQuantiles.size(); ++i) {
    double below = 0;
    double all = 0;
    for (const Scored& job : result.jobs) {
      const PublishedForecast& said = job.said[0];
      if (!job.started || said.quantiles[5] <= 60) continue;
      all += job.weight;
      if (job.wait <= static_cast<double>(said.quantiles[i])) below += job.weight;
    }
    if (all > 0) points.push_back({{"nominal", kScoredQuantiles[i]}, {"observed", below / all}});
  }
  return points;
}

// Median absolute error by forecast wait.
json HorizonJson(const BackTestResult& result) {
  static constexpr std::array<double, 8> kEdges = {0, 60, 600, 3600, 14'400, 43'200, 172'800, 1e12};
  json buckets = json::array();
  for (size_t i = 0; i + 1 < kEdges.size(); ++i) {
    json one = {{"from_seconds", kEdges[i]}, {"to_seconds", kEdges[i + 1]}};
    std::array<std::vector<std::pair<double, double>>, kPredictors> errors;
    for (const Scored& job : result.jobs) {
      const auto p50 = static_cast<double>(job.said[0].quantiles[kP50]);
      if (!job.started || p50 < kEdges[i] || p50 >= kEdges[i + 1]) continue;
      for (size_t k = 0; k < kPredictors; ++k) {
        const auto said = static_cast<double>(job.said[k].quantiles[kP50]);
        errors[k].emplace_back(std::abs(said - job.wait), job.weight);
      }
    }
    one["jobs"] = errors[0].size();
    for (size_t k = 0; k < kPredictors; ++k) {
      one[kPredictorNames[k]] = WeightedMedian(std::move(errors[k]));
    }
    buckets.push_back(std::move(one));
  }
  return buckets;
}

std::string ScoreLine(const char* name, const Scores& s) {
  return fmt::format(
      "  {:<17}{:>10.0f} {:>8.4f} {:>10.0f} {:>10.0f}  {:.3f} {:.3f} {:.3f}  {:.4f}  "
      "{:.3f}  {:.3f}  {:.2f} {:.2f} {:.2f}\n",
      name, s.crps_seconds, s.crps_log, s.median_abs_error_seconds, s.waited_abs_error_seconds,
      s.within_60s, s.within_600s, s.within_3600s, s.brier_60s, s.coverage_p50, s.coverage_p90,
      s.place_p10, s.place_p50, s.place_p90);
}

std::string RatioLine(const std::vector<const Scored*>& jobs) {
  std::string text;
  static constexpr std::array kLosses = {std::pair(Loss::kCrpsLog, "CRPS log"),
                                         std::pair(Loss::kCrpsSeconds, "CRPS seconds"),
                                         std::pair(Loss::kMedianAbsError, "median error")};
  for (const auto& [loss, name] : kLosses) {
    const Ratio ratio = RatioToBest(jobs, loss, kBootstrapSeed);
    text += fmt::format("  {} / best baseline ({}): {:.3f} [{:.3f} .. {:.3f}]\n", name,
                        ratio.best_baseline, ratio.ratio, ratio.low, ratio.high);
    if (loss == Loss::kMedianAbsError) continue;
    const AgainstParts against = ToBestPart(jobs, loss);
    text += fmt::format("    / best part ({}): {:.3f}", against.best_part, against.ratio);
    text += against.worst_span > 0
                ? fmt::format(", worst span of {}: {:.3f}\n", kSpan, against.worst_span)
                : "\n";
    if (const double worst = WorstSoFar(jobs, loss); worst > 0) {
      text += fmt::format("    worst so far from the {}th job on: {:.3f}\n", kLearnedAfter, worst);
    }
  }
  return text;
}

std::string WeeksLine(const BackTestResult& result) {
  std::string text = "p90 coverage by week:";
  int64_t good = 0;
  int64_t weeks = 0;
  for (const auto& [week, jobs] : ByWeek(result.jobs)) {
    const Scores scores = ComputeScores(jobs, 0);
    if (scores.covered_jobs == 0) continue;
    text += fmt::format(" {:.2f}", scores.coverage_p90);
    ++weeks;
    if (scores.coverage_p90 >= 0.8) ++good;
  }
  return weeks == 0 ? "" : text + fmt::format("  ({} of {} weeks at .80 or more)\n", good, weeks);
}

std::string TestOnlyLine(const BackTestResult& result) {
  std::vector<std::pair<double, double>> theirs;
  std::vector<std::pair<double, double>> ours;
  for (const Scored& job : result.jobs) {
    if (!job.test_only_error || !job.started || job.wait <= 600) continue;
    theirs.emplace_back(*job.test_only_error, 1);
    ours.emplace_back(std::abs(static_cast<double>(job.said[0].quantiles[kP50]) - job.wait), 1);
  }
  if (theirs.empty()) return "";
  const size_t jobs = theirs.size();
  return fmt::format(
      "sbatch --test-only of {} jobs that waited more than 10 minutes: median error {:.0f} s; ours "
      "{:.0f} s\n",
      jobs, WeightedMedian(std::move(theirs)), WeightedMedian(std::move(ours)));
}

std::string IssueLines(const char* verb, const std::map<std::string, LogIssue>& issues) {
  std::string text;
  for (const auto& [why, issue] : issues) {
    text += fmt::format("{} {}: {}", verb, Plural(issue.rows, "row"), why);
    text += issue.first_line > 0 ? fmt::format(" (first on line {})\n", issue.first_line) : "\n";
  }
  return text;
}

// One row for each repeated forecast, read by bench/asked_again.py.
json AgainJson(const BackTestResult& result) {
  json rows = json::array();
  for (const AskedAgain& one : result.again) {
    rows.push_back({{"job_id", one.job_id},
                    {"age", one.age},
                    {"left", one.left},
                    {"started", one.started},
                    {"weight", one.weight},
                    {"p10", one.p10},
                    {"p50", one.p50},
                    {"p90", one.p90}});
  }
  return rows;
}

}  // namespace

std::string ReportTable(const JobLog& log, const BackTestResult& result) {
  std::string text =
      fmt::format("{} of {} scored\n", Plural(static_cast<int64_t>(result.jobs.size()), "job"),
                  Plural(result.submissions, "submission"));
  text += IssueLines("left out", log.left_out) + IssueLines("mended", log.mended);
  if (result.impossible > 0) {
    text += fmt::format("{} could never run on the cluster of the file\n",
                        Plural(result.impossible, "submission"));
  }
  if (result.without_room > 0) {
    text += fmt::format("{} when the cluster of the file had no room: it has too few nodes\n",
                        Plural(result.without_room, "start"));
  }
  for (size_t g = 0; g < kScoreGroups; ++g) {
    const auto jobs = InGroup(result.jobs, static_cast<ScoreGroup>(g));
    if (jobs.empty()) continue;
    text += fmt::format("\n{} ({})\n  {:<17}{:>10} {:>8} {:>10} {:>10}  {:<17}  {:<6}  {}\n",
                        kScoreGroupNames[g], Plural(static_cast<int64_t>(jobs.size()), "job"), "",
                        "CRPS s", "CRPS log", "MAE s", "MAE waited", "within 1m/10m/1h", "Brier",
                        "covers p50, p90, places .1 .5 .9");
    for (size_t k = 0; k < kPredictors; ++k) {
      text += ScoreLine(kPredictorNames[k], ComputeScores(jobs, k));
    }
    text += RatioLine(jobs);
  }
  return text + "\n" + WeeksLine(result) + TestOnlyLine(result);
}

json ReportJson(const JobLog& log, const BackTestResult& result) {
  json groups = json::object();
  json ratios = json::object();
  for (size_t g = 0; g < kScoreGroups; ++g) {
    const auto jobs = InGroup(result.jobs, static_cast<ScoreGroup>(g));
    json& group = groups[kScoreGroupNames[g]];
    for (size_t k = 0; k < kPredictors; ++k) {
      group[kPredictorNames[k]] = ToJson(ComputeScores(jobs, k));
    }
    ratios[kScoreGroupNames[g]] = {
        {"crps_log", RatioJson(jobs, Loss::kCrpsLog)},
        {"crps_seconds", RatioJson(jobs, Loss::kCrpsSeconds)},
        {"median_abs_error_seconds", RatioJson(jobs, Loss::kMedianAbsError)}};
  }
  return {{"groups", std::move(groups)},
          {"ratios_to_best_baseline", std::move(ratios)},
          {"weeks", WeeksJson(result)},
          {"calibration", CalibrationJson(result)},
          {"error_by_horizon", HorizonJson(result)},
          {"asked_again", AgainJson(result)},
          {"submissions", result.submissions},
          {"scored", result.jobs.size()},
          {"impossible", result.impossible},
          {"without_room", result.without_room},
          {"left_out", IssuesJson(log.left_out)},
          {"mended", IssuesJson(log.mended)},
          {"wall_seconds", result.wall_seconds}};
}

}  // namespace gpuadvise::backtest
