#include "common/answer_scores.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "common/accuracy.h"
#include "common/advice_json.h"
#include "common/gpu_types.h"
#include "common/past.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

constexpr double kNormal95 = 1.959964;  // 97.5 % of the normal distribution lie below

using Scores = std::vector<const StartScore*>;

Scores ThoseSaidToWait(const std::deque<StartScore>& scores) {
  Scores waits;
  for (const StartScore& score : scores) {
    if (score.said.p90 > kSaysItWaits) waits.push_back(&score);
  }
  return waits;
}

/// The wait by which a share (i + 1) / 10 was said to have started; nullopt: not kept.
std::optional<double> DecileOf(const SaidWait& said, size_t i) {
  if (said.deciles) return (*said.deciles)[i];
  switch (i) {
    case 0:
      return said.p10;
    case 4:
      return said.p50;
    case 8:
      return said.p90;
    default:
      return std::nullopt;
  }
}

json CalibrationRow(size_t decile, const Scores& scores) {
  int64_t all = 0;
  int64_t came = 0;
  for (const StartScore* score : scores) {
    const auto by = DecileOf(score->said, decile);
    if (!by) continue;
    ++all;
    if (score->wait <= *by) ++came;
  }
  json row = {{"said", static_cast<double>(decile + 1) / (kDeciles + 1)},
              {"came", nullptr},
              {"low", nullptr},
              {"high", nullptr},
              {"jobs", all}};
  if (all == 0) return row;
  const ShareRange range = WilsonRange(came, all);
  row["came"] = static_cast<double>(came) / static_cast<double>(all);
  row["low"] = range.low;
  row["high"] = range.high;
  return row;
}

/// All rows are of the same jobs: those whose deciles were kept, or where those are few beside
/// others all jobs, of which three quantiles are known.
json CalibrationOf(const Scores& scores) {
  constexpr size_t kEnough = 30;
  Scores kept;
  for (const StartScore* score : scores) {
    if (score->said.deciles) kept.push_back(score);
  }
  const bool nine = kept.size() == scores.size() || kept.size() >= kEnough;
  json rows = json::array();
  for (size_t i = 0; i < kDeciles; ++i) {
    const bool known = nine || i == 0 || i == 4 || i == 8;
    rows.push_back(CalibrationRow(i, nine ? kept : known ? scores : Scores{}));
  }
  return rows;
}

json WeeksOf(const std::deque<StartScore>& scores, const LocalTime& local) {
  std::map<UnixSeconds, Scores> by_week;
  for (const StartScore& score : scores) {
    by_week[local(score.started_at).week_start].push_back(&score);
  }
  json weeks = json::array();
  for (const auto& [start, group] : by_week) {
    json week = ToJson(AccuracyOf(group));
    week["week_start"] = start;
    weeks.push_back(std::move(week));
  }
  return weeks;
}

json PointsOf(const Scores& scores, const GpuTypes& types) {
  const size_t first = scores.size() > kToldScores ? scores.size() - kToldScores : 0;
  json points = json::array();
  for (size_t i = first; i < scores.size(); ++i) {
    const StartScore& score = *scores[i];
    const GpuType type = score.gpus > 0 ? types.Of(score.gpu) : GpuType{};
    points.push_back({{"started_at", score.started_at},
                      {"gpu", type.id},
                      {"gpu_name", type.name},
                      {"gpus", score.gpus},
                      {"said_p10_seconds", score.said.p10},
                      {"said_p50_seconds", score.said.p50},
                      {"said_p90_seconds", score.said.p90},
                      {"wait_seconds", score.wait},
                      {"slurm_error_seconds",
                       score.slurm_error_seconds ? json(*score.slurm_error_seconds) : json()}});
  }
  return points;
}

}  // namespace

ShareRange WilsonRange(int64_t part, int64_t all) {
  const auto n = static_cast<double>(all);
  const double share = static_cast<double>(part) / n;
  const double z2 = kNormal95 * kNormal95;
  const double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kNormal95 / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  return {std::max(middle - half, 0.0), std::min(middle + half, 1.0)};
}

void AddScores(const ClusterView& view, const LocalTime& local, json& answer) {
  static const std::deque<StartScore> kNone;
  const Past* past = PastBehind(view.queue);
  const std::deque<StartScore>& scores = past != nullptr ? past->scores.scores() : kNone;
  const Scores waits = ThoseSaidToWait(scores);
  answer["calibration"] = CalibrationOf(waits);
  answer["weeks"] = WeeksOf(scores, local);
  answer["points"] = PointsOf(waits, GpuTypes(view.snapshot, view.gpus));
}

}  // namespace gpuadvise
