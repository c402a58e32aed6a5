// GET /v1/accuracy: how right forecasts have been, by GPU type and job size.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/accuracy.h"
#include "common/advice_json.h"
#include "common/answers.h"
#include "common/gpu_types.h"
#include "common/past.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

using Group = std::vector<const StartScore*>;

/// Jobs of one GPU type and size class.
struct Bin {
  std::string gpu_name;
  Group group;
};

json RowOf(const std::string& gpu, int64_t least, const Bin& bin) {
  json row = ToJson(AccuracyOf(bin.group));
  row["gpu"] = gpu;
  row["gpu_name"] = bin.gpu_name;
  row["gpus"] = SizeClassOf(least);
  return row;
}

int64_t LeastOf(int64_t gpus) {
  int64_t low = std::min<int64_t>(std::max<int64_t>(gpus, 0), 2);
  while (low >= 2 && gpus >= 2 * low) low *= 2;
  return low;
}

}  // namespace

json ToJson(const Accuracy& accuracy) {
  json out = {{"jobs", accuracy.jobs},
              {"median_abs_error_seconds", nullptr},
              {"within_600s", nullptr},
              {"at_once", nullptr},
              {"covered_jobs", accuracy.covered_jobs},
              {"covered_median_abs_error_seconds", nullptr},
              {"coverage_p50", nullptr},
              {"coverage_p90", nullptr},
              {"slurm_jobs", accuracy.slurm_jobs},
              {"slurm_median_abs_error_seconds", nullptr},
              {"median_abs_error_seconds_beside_slurm", nullptr}};
  if (accuracy.jobs > 0) {
    out["median_abs_error_seconds"] = accuracy.median_abs_error_seconds;
    out["within_600s"] = accuracy.within_600s;
  }
  if (accuracy.jobs > accuracy.covered_jobs) out["at_once"] = accuracy.at_once;
  if (accuracy.covered_jobs > 0) {
    out["covered_median_abs_error_seconds"] = accuracy.covered_median_abs_error_seconds;
    out["coverage_p50"] = accuracy.coverage_p50;
    out["coverage_p90"] = accuracy.coverage_p90;
  }
  if (accuracy.slurm_jobs > 0) {
    out["slurm_median_abs_error_seconds"] = accuracy.slurm_median_abs_error_seconds;
    out["median_abs_error_seconds_beside_slurm"] = accuracy.median_abs_error_seconds_beside_slurm;
  }
  return out;
}

json AnswerAccuracy(const ClusterView& view) {
  Group all;
  Group fits_now;
  Group waits;
  std::map<std::pair<std::string, int64_t>, Bin> by_size;
  const GpuTypes types(view.snapshot, view.gpus);
  if (const Past* past = PastBehind(view.queue)) {
    for (const StartScore& score : past->scores.scores()) {
      all.push_back(&score);
      (score.said.group == WaitGroup::kFitsNow ? fits_now : waits).push_back(&score);
      const GpuType type = score.gpus > 0 ? types.Of(score.gpu) : GpuType{};
      Bin& bin = by_size[{type.id, LeastOf(score.gpus)}];
      bin.gpu_name = type.name;
      bin.group.push_back(&score);
    }
  }
  const Accuracy accuracy = AccuracyOf(all);
  json rows = json::array();
  for (const auto& [key, bin] : by_size) rows.push_back(RowOf(key.first, key.second, bin));
  return {{"all", ToJson(accuracy)},
          {"fits_now", ToJson(AccuracyOf(fits_now))},
          {"does_not_fit_now", ToJson(AccuracyOf(waits))},
          {"by_gpu", rows},
          {"since", all.empty() ? json() : json(all.front()->started_at)},
          {"note", RecordInWords(accuracy)}};
}

}  // namespace gpuadvise
