#include "daemon/answers/advice_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/bytes.h"
#include "common/base/host_list.h"
#include "common/base/slurm_time.h"
#include "common/history/forecast_history.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

int64_t Whole(double seconds) { return std::llround(std::min(seconds, 9e15)); }

void AddSpread(json& out, const std::string& name, const Spread& spread) {
  out[name + "_p10_seconds"] = Whole(spread.p10);
  out[name + "_p50_seconds"] = Whole(spread.p50);
  out[name + "_p90_seconds"] = Whole(spread.p90);
  out[name + "_mean_seconds"] = Whole(spread.mean);
}

json Rounded(const std::optional<double>& number) {
  return number ? json(std::round(*number * 100) / 100) : json();
}

json CostUnitOf(const Strategy& strategy) {
  if (!strategy.cost) return nullptr;
  return strategy.cost_is_billing ? "billing_hours" : "price";
}

std::string GresOf(const Strategy& strategy) {
  const std::string& type = strategy.placement.pool->gres_type;
  std::string count = std::to_string(strategy.placement.gpus_per_node);
  return type.empty() ? "gpu:" + count : "gpu:" + type + ":" + count;
}

// sbatch's long options with `_` for `-`; what is not needed is absent.
json SbatchOf(const Strategy& strategy, const Constraints& constraints) {
  const Placement& placement = strategy.placement;
  json sbatch = {{"partition", placement.pool->partition->name},
                 {"gres", GresOf(strategy)},
                 {"nodes", placement.nodes},
                 {"ntasks_per_node", 1},
                 {"cpus_per_task", placement.cpus_per_node},
                 {"time", FormatDuration(strategy.time_limit_seconds)}};
  if (!strategy.account.empty()) sbatch["account"] = strategy.account;
  if (!strategy.qos.empty()) sbatch["qos"] = strategy.qos;
  if (placement.memory_per_node_mib) {
    sbatch["mem"] = FormatSlurmMemory(Bytes::FromMiB(*placement.memory_per_node_mib));
  }
  if (!strategy.request.features.empty()) sbatch["constraint"] = strategy.request.features;
  if (!strategy.request.excluded_nodes.empty()) {
    sbatch["exclude"] = CompressHostList(strategy.request.excluded_nodes);
  }
  if (!constraints.nodelist.empty()) sbatch["nodelist"] = constraints.nodelist;
  return sbatch;
}

json StagesOf(const Strategy& strategy) {
  json stages = json::array();
  for (const StagePlan& stage : strategy.stages) {
    stages.push_back({{"name", stage.name},
                      {"micro_batch", stage.batch.micro_batch},
                      {"accumulation", stage.batch.accumulation},
                      {"effective_batch_size", stage.batch.effective},
                      {"steps", stage.work.steps},
                      {"samples", stage.work.samples},
                      {"memory_bytes", stage.memory_bytes},
                      {"memory_checked", stage.memory_checked},
                      {"run_p50_seconds", Whole(stage.run_p50_seconds)}});
  }
  return stages;
}

json StrategyJson(const Strategy& strategy, size_t rank, const AdviceRequest& request) {
  const Placement& placement = strategy.placement;
  const StagePlan& first = strategy.stages.front();
  json out = {{"rank", rank},
              {"gpu", placement.pool->Id()},
              {"gpu_name", placement.pool->Name()},
              {"gres_type", placement.pool->gres_type},
              {"gpus_per_node", placement.gpus_per_node},
              {"nodes", placement.nodes},
              {"partition", placement.pool->partition->name},
              {"account", strategy.account},
              {"qos", strategy.qos},
              {"micro_batch", first.batch.micro_batch},
              {"accumulation", first.batch.accumulation},
              {"effective_batch_size", first.batch.effective},
              {"steps", first.work.steps},
              {"samples", first.work.samples},
              {"precision", ToWord(strategy.precision)},
              {"time_limit_seconds", strategy.time_limit_seconds},
              {"links", strategy.segments},
              {"memory_bytes", first.memory_bytes},
              {"memory_checked", strategy.MemoryChecked()},
              {"gpu_memory_bytes", std::llround(placement.pool->model->memory_gb * 1e9)},
              {"gpu_hours", std::round(strategy.gpu_hours * 100) / 100},
              {"cost", Rounded(strategy.cost)},
              {"cost_unit", CostUnitOf(strategy)},
              {"energy_kwh", Rounded(strategy.kilowatt_hours)},
              {"priority", strategy.start.priority},
              {"jobs_before", strategy.start.jobs_before},
              {"lost_mean_seconds", std::llround(strategy.start.MeanLost())},
              {"wait_at_limits_seconds", strategy.wait_at_limits_seconds},
              {"reasons", strategy.reasons},
              {"notes", strategy.notes},
              {"sbatch", SbatchOf(strategy, request.constraints)}};
  AddSpread(out, "wait", strategy.wait);
  AddSpread(out, "run", strategy.run);
  AddSpread(out, "total", strategy.total);
  if (strategy.stages.size() > 1) out["stages"] = StagesOf(strategy);
  if (const auto seconds = request.by.seconds_to_deadline) {
    const double chance = ChanceToFinishBy(strategy, *seconds);
    out["deadline_chance"] = std::round(chance * 1000) / 1000;
    out["makes_deadline"] = chance >= kSureEnough;
  }
  return out;
}

// Whether other counts of the same GPUs in the same partition are possible.
bool IsPartly(const Rejection& rejection, const Advice& advice) {
  for (const Strategy& strategy : advice.strategies) {
    if (strategy.placement.pool == rejection.pool) return true;
  }
  return false;
}

json RejectionJson(const Rejection& rejection, const Advice& advice) {
  return {{"gpu", rejection.pool->Id()},
          {"gpu_name", rejection.pool->Name()},
          {"gpus_per_node", rejection.gpus_per_node},
          {"nodes", rejection.nodes},
          {"partition", rejection.pool->partition->name},
          {"others_possible", IsPartly(rejection, advice)},
          {"reasons", rejection.reasons}};
}

json TrainingOf(const TrainSpec& spec) {
  const TrainingSpec& training = spec.stages.front().training;
  json out = json::object();
  if (training.max_steps) out["max_steps"] = *training.max_steps;
  if (training.num_train_epochs) out["num_train_epochs"] = *training.num_train_epochs;
  if (training.samples) out["samples"] = *training.samples;
  if (auto range = training.effective_batch_size) {
    out["effective_batch_size"] = {range->low, range->high};
  }
  return out;
}

}  // namespace

json ForecastNote(size_t samples, const ForecastHistory* past) {
  if (past == nullptr) {
    return {{"method", "limits"},
            {"samples", samples},
            {"note", "waits assume that every job runs to its time limit; most end earlier"},
            {"record", nullptr}};
  }
  std::vector<const StartScore*> all;
  for (const StartScore& score : past->scores.scores()) all.push_back(&score);
  const Accuracy accuracy = AccuracyOf(all);
  return {{"method", "history"},
          {"samples", samples},
          {"note", RecordInWords(accuracy)},
          {"accuracy_known", accuracy.jobs >= kEnoughScores},
          {"record", ToJson(accuracy)}};
}

json ToJson(const Advice& advice, const AdviceRequest& request, const ForecastHistory* past) {
  json out = {{"name", request.spec.name},
              {"objective", ToWord(request.by.objective)},
              {"training", TrainingOf(request.spec)},
              {"strategies", json::array()},
              {"rejected", json::array()},
              {"tips", advice.tips}};
  out["limit_advice"] = nullptr;
  if (const auto& shorter = advice.shorter_limit) {
    out["limit_advice"] = {{"rank", shorter->place + 1},
                           {"time_limit_seconds", shorter->limit_seconds},
                           {"words", shorter->words}};
  }
  if (request.deadline) out["deadline"] = *request.deadline;
  size_t samples = 0;
  for (size_t i = 0; i < advice.strategies.size(); ++i) {
    const Strategy& strategy = advice.strategies[i];
    samples = std::max(samples, strategy.start.wait_seconds.size());
    out["strategies"].push_back(StrategyJson(strategy, i + 1, request));
  }
  for (const Rejection& rejection : advice.rejected) {
    out["rejected"].push_back(RejectionJson(rejection, advice));
  }
  out["forecast"] = ForecastNote(samples, past);
  return out;
}

}  // namespace gpuadvise::daemon
