#include "daemon/metrics/forecast_metrics.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "common/base/work_budget.h"
#include "common/forecast/start_of.h"
#include "common/gpu/gpu_pool.h"
#include "daemon/answers/answers.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, const char*> kQuantileFields[] = {
    {"0.1", "wait_p10_seconds"}, {"0.5", "wait_p50_seconds"}, {"0.9", "wait_p90_seconds"}};

std::string HoursText(int64_t seconds) { return std::to_string(seconds / 3600) + "h"; }

void AddWaits(const AdviceContext& context, const Submitter& anybody, MetricFamilies& into) {
  Gauges waits("gpuadvise_forecast_wait_seconds",
               "Forecast wait of a job submitted now, in the partition where it starts first",
               {"gpu", "gpus", "nodes", "time_limit", "quantile"});
  const json answer = AnswerWaits(context, anybody);
  const bool is_whole = context.budget == nullptr || !context.budget->stopped();
  for (const json& type : is_whole ? answer["gpus"] : json::array()) {
    for (const json& wait : type["waits"]) {
      if (wait["partition"].is_null()) continue;  // can never run
      const int64_t nodes = wait["nodes"];
      const int64_t gpus = wait["gpus_per_node"].get<int64_t>() * nodes;
      for (const auto& [quantile, field] : kQuantileFields) {
        waits.Add({type["gpu"], std::to_string(gpus), std::to_string(nodes),
                   HoursText(wait["time_limit_seconds"]), quantile},
                  wait[field]);
      }
    }
  }
  std::move(waits).MoveTo(into);
}

// Accuracy of one group; what is not measured yet has no series.
struct AccuracyGauges {
  std::vector<std::string> labels = {"gpu", "gpus"};
  Gauges jobs{"gpuadvise_forecast_scored_jobs", "Jobs whose forecast was compared with their start",
              labels};
  Gauges error{"gpuadvise_forecast_error_seconds",
               "Median absolute error of the forecast median, of jobs forecast to wait", labels};
  Gauges coverage{"gpuadvise_forecast_coverage_ratio",
                  "Share of jobs forecast to wait that started by the forecast quantile",
                  {"gpu", "gpus", "quantile"}};

  void Add(const api::AccuracyFigures& figures, const std::string& gpu, const std::string& gpus) {
    jobs.Add({gpu, gpus}, static_cast<double>(figures.jobs));
    if (const auto& value = figures.covered_median_abs_error_seconds) {
      error.Add({gpu, gpus}, *value);
    }
    if (figures.coverage_p50) coverage.Add({gpu, gpus, "0.5"}, *figures.coverage_p50);
    if (figures.coverage_p90) coverage.Add({gpu, gpus, "0.9"}, *figures.coverage_p90);
  }
};

void AddAccuracy(const AdviceContext& context, MetricFamilies& into) {
  // Types that only hidden partitions have are told to nobody here.
  std::set<std::string> open = {""};
  for (const GpuPool& pool : context.Pools()) open.insert(pool.Id());
  const api::Accuracy answer = AnswerAccuracy(context);
  AccuracyGauges gauges;
  gauges.Add(answer.all, "all", "all");
  for (const api::AccuracyOfGpu& row : answer.by_gpu) {
    if (open.contains(row.gpu)) gauges.Add(row.figures, row.gpu, row.gpus);
  }
  std::move(gauges.jobs).MoveTo(into);
  std::move(gauges.error).MoveTo(into);
  std::move(gauges.coverage).MoveTo(into);
  Gauges slurm("gpuadvise_slurm_start_error_seconds",
               "Median absolute error of the first StartTime that Slurm published for a job");
  if (const auto& error = answer.all.slurm_median_abs_error_seconds) slurm.Set(*error);
  std::move(slurm).MoveTo(into);
  AddGauge("gpuadvise_slurm_start_jobs", "Jobs for which Slurm published a StartTime",
           static_cast<double>(answer.all.slurm_jobs), into);
}

}  // namespace

MetricFamilies ForecastMetrics(const AdviceContext& context, const Submitter& anybody) {
  MetricFamilies families;
  AddWaits(context, anybody, families);
  AddAccuracy(context, families);
  return families;
}

}  // namespace gpuadvise::daemon
