// GET /v1/accuracy: how right forecasts have been, by GPU type and job size.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/gpu/gpu_types.h"
#include "common/history/accuracy.h"
#include "common/history/forecast_history.h"
#include "daemon/answers/advice_json.h"
#include "daemon/answers/answers.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {

namespace {

using Group = std::vector<const StartScore*>;

// Jobs of one GPU type and size class.
struct Bin {
  std::string gpu_name;
  Group group;
};

int64_t LeastOf(int64_t gpus) {
  int64_t low = std::min<int64_t>(std::max<int64_t>(gpus, 0), 2);
  while (low >= 2 && gpus >= 2 * low) low *= 2;
  return low;
}

}  // namespace

api::AccuracyFigures FiguresOf(const Accuracy& accuracy) {
  api::AccuracyFigures figures;
  figures.jobs = accuracy.jobs;
  figures.covered_jobs = accuracy.covered_jobs;
  figures.slurm_jobs = accuracy.slurm_jobs;
  if (accuracy.jobs > 0) {
    figures.median_abs_error_seconds = accuracy.median_abs_error_seconds;
    figures.within_600s = accuracy.within_600s;
  }
  if (accuracy.jobs > accuracy.covered_jobs) figures.at_once = accuracy.at_once;
  if (accuracy.covered_jobs > 0) {
    figures.covered_median_abs_error_seconds = accuracy.covered_median_abs_error_seconds;
    figures.coverage_p50 = accuracy.coverage_p50;
    figures.coverage_p90 = accuracy.coverage_p90;
  }
  if (accuracy.slurm_jobs > 0) {
    figures.slurm_median_abs_error_seconds = accuracy.slurm_median_abs_error_seconds;
    figures.median_abs_error_seconds_beside_slurm = accuracy.median_abs_error_seconds_beside_slurm;
  }
  return figures;
}

api::Accuracy AnswerAccuracy(const AdviceContext& context) {
  Group all;
  Group fits_now;
  Group waits;
  std::map<std::pair<std::string, int64_t>, Bin> by_size;
  const GpuTypes types(context.snapshot, context.gpus);
  if (const ForecastHistory* past = PastBehind(context.queue)) {
    for (const StartScore& score : past->scores.scores()) {
      all.push_back(&score);
      (score.said.group == WaitGroup::kFitsNow ? fits_now : waits).push_back(&score);
      const GpuType type = score.gpus > 0 ? types.TypeOf(score.gpu) : GpuType{};
      Bin& bin = by_size[{type.id, LeastOf(score.gpus)}];
      bin.gpu_name = type.name;
      bin.group.push_back(&score);
    }
  }
  const Accuracy accuracy = ComputeAccuracy(all);
  api::Accuracy answer;
  answer.all = FiguresOf(accuracy);
  answer.fits_now = FiguresOf(ComputeAccuracy(fits_now));
  answer.does_not_fit_now = FiguresOf(ComputeAccuracy(waits));
  for (const auto& [key, bin] : by_size) {
    answer.by_gpu.push_back(
        {FiguresOf(ComputeAccuracy(bin.group)), key.first, bin.gpu_name, GpuSizeClass(key.second)});
  }
  if (!all.empty()) answer.since = all.front()->started_at;
  answer.note = DescribeAccuracy(accuracy);
  return answer;
}

namespace {

constexpr double kNormal95 = 1.959964;  // 97.5 % of the normal distribution lie below

using Scores = std::vector<const StartScore*>;

Scores ThoseSaidToWait(const std::deque<StartScore>& scores) {
  Scores waits;
  for (const StartScore& score : scores) {
    if (score.said.p90 > kPredictsWaitSeconds) waits.push_back(&score);
  }
  return waits;
}

// The wait by which a share (i + 1) / 10 was said to have started; nullopt: not kept.
std::optional<double> DecileOf(const PublishedForecast& said, size_t i) {
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

api::CalibrationPoint CalibrationRow(size_t decile, const Scores& scores) {
  int64_t all = 0;
  int64_t came = 0;
  for (const StartScore* score : scores) {
    const auto by = DecileOf(score->said, decile);
    if (!by) continue;
    ++all;
    if (score->wait <= *by) ++came;
  }
  api::CalibrationPoint row;
  row.said = static_cast<double>(decile + 1) / (kDeciles + 1);
  row.jobs = all;
  if (all == 0) return row;
  const ShareRange range = WilsonRange(came, all);
  row.came = static_cast<double>(came) / static_cast<double>(all);
  row.low = range.low;
  row.high = range.high;
  return row;
}

// All rows are of the same jobs: those whose deciles were kept, or where those are few beside
// others all jobs, of which three quantiles are known.
std::vector<api::CalibrationPoint> CalibrationOf(const Scores& scores) {
  constexpr size_t kEnough = 30;
  Scores kept;
  for (const StartScore* score : scores) {
    if (score->said.deciles) kept.push_back(score);
  }
  const bool nine = kept.size() == scores.size() || kept.size() >= kEnough;
  std::vector<api::CalibrationPoint> rows;
  for (size_t i = 0; i < kDeciles; ++i) {
    const bool known = nine || i == 0 || i == 4 || i == 8;
    rows.push_back(CalibrationRow(i, nine ? kept : known ? scores : Scores{}));
  }
  return rows;
}

std::vector<api::AccuracyWeek> WeeksOf(const std::deque<StartScore>& scores,
                                       const LocalTime& local) {
  std::map<UnixSeconds, Scores> by_week;
  for (const StartScore& score : scores) {
    by_week[local(score.started_at).week_start].push_back(&score);
  }
  std::vector<api::AccuracyWeek> weeks;
  for (const auto& [start, group] : by_week) {
    weeks.push_back({FiguresOf(ComputeAccuracy(group)), start});
  }
  return weeks;
}

std::vector<api::AccuracyPoint> PointsOf(const Scores& scores, const GpuTypes& types) {
  const size_t first = scores.size() > kToldScores ? scores.size() - kToldScores : 0;
  std::vector<api::AccuracyPoint> points;
  for (size_t i = first; i < scores.size(); ++i) {
    const StartScore& score = *scores[i];
    const GpuType type = score.gpus > 0 ? types.TypeOf(score.gpu) : GpuType{};
    points.push_back({score.started_at, type.id, type.name, score.gpus, score.said.p10,
                      score.said.p50, score.said.p90, static_cast<double>(score.wait),
                      score.slurm_error_seconds});
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

void AddScores(const AdviceContext& context, const LocalTime& local, api::Accuracy& answer) {
  static const std::deque<StartScore> kNone;
  const ForecastHistory* past = PastBehind(context.queue);
  const std::deque<StartScore>& scores = past != nullptr ? past->scores.scores() : kNone;
  const Scores waits = ThoseSaidToWait(scores);
  answer.calibration = CalibrationOf(waits);
  answer.weeks = WeeksOf(scores, local);
  answer.points = PointsOf(waits, GpuTypes(context.snapshot, context.gpus));
}

}  // namespace gpuadvise::daemon
