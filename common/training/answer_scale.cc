#include "common/training/answer_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/training/model_accuracy.h"
#include "common/training/stage_needs.h"
#include "common/training/train_spec.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

json PartsJson(const StepSeconds& step) {
  return {{"compute_seconds", step.compute},     {"memory_traffic_seconds", step.traffic},
          {"launches_seconds", step.launches},   {"communication_seconds", step.communication},
          {"optimizer_seconds", step.optimizer}, {"loader_seconds", step.loader}};
}

json StageJson(const StagePlan& plan) {
  json stage = {
      {"name", plan.name},
      {"hours", plan.run_p50_seconds / kHourSeconds},
      {"steps", plan.work.steps},
      {"seconds_per_step", (plan.run_p50_seconds - plan.checkpoint_seconds) /
                               static_cast<double>(std::max<int64_t>(plan.work.steps, 1))},
      {"checkpoint_seconds", plan.checkpoint_seconds},
      {"micro_batch", plan.batch.micro_batch},
      {"accumulation", plan.batch.accumulation},
      {"effective_batch_size", plan.batch.effective},
      {"precision", ToWord(plan.precision)},
      {"gradient_checkpointing_chosen", plan.checkpointing_chosen},
      {"memory_checked", plan.memory_checked},
      {"basis", plan.basis}};
  if (!plan.disagreement.empty()) stage["disagreement"] = plan.disagreement;
  if (plan.memory_bytes > 0) stage["memory_bytes"] = plan.memory_bytes;
  if (plan.step.total() > 0) stage["step"] = PartsJson(plan.step);
  return stage;
}

json StepJson(const ScaleStep& step) {
  json row = {{"gpus", step.gpus()},
              {"gpus_per_node", step.gpus_per_node},
              {"nodes", step.nodes},
              {"runs", step.impossible.empty()}};
  if (!step.impossible.empty()) {
    row["reason"] = step.impossible;
    return row;
  }
  row["hours"] = step.run.seconds.p50 / kHourSeconds;
  row["run_p50_seconds"] = step.run.seconds.p50;
  row["run_p90_seconds"] = step.run.seconds.p90;
  row["efficiency"] = step.efficiency;
  row["gpu_hours"] = step.cost.gpu_hours;
  if (step.cost.price) row["cost"] = *step.cost.price;
  if (step.cost.kilowatt_hours) row["energy_kwh"] = *step.cost.kilowatt_hours;
  json stages = json::array();
  for (const StagePlan& plan : step.run.stages) stages.push_back(StageJson(plan));
  row["stages"] = std::move(stages);
  return row;
}

json ScheduleJson(const TrainSpec& spec, const ScaleStep& step) {
  json days = json::array();
  for (const DayOfWork& day : ScheduleOf(spec, step)) {
    days.push_back({{"first_day", day.first_day},
                    {"last_day", day.last_day},
                    {"task", day.task},
                    {"hours", day.hours}});
  }
  return days;
}

// What the counted stages of `step` take for granted, each sentence once.
json AssumedJson(const ScaleQuestion& question, const ScaleStep& step) {
  const TrainSpec& spec = question.spec;
  std::vector<std::string> all;
  const auto add = [&](std::string sentence) {
    if (std::find(all.begin(), all.end(), sentence) == all.end())
      all.push_back(std::move(sentence));
  };
  for (size_t i = 0; i < step.run.stages.size(); ++i) {
    if (!step.run.stages[i].counted) continue;
    const ModelSpec& model = spec.stages[i].model;
    const auto known = KnownModelOf(model, question.presets.Find(model.preset));
    if (!known || known->shape == nullptr) continue;  // counted by no shape
    for (std::string& sentence : AssumptionsOf(spec.stages[i], *known->shape)) {
      add(std::move(sentence));
    }
    const TrainingSpec& training = spec.stages[i].training;
    if (training.max_steps && !training.effective_batch_size) {
      add("with the same number of steps, more GPUs train on more samples: set "
          "effective_batch_size to compare equal trainings");
    }
    if (!HasTiming(training) && !training.mean_seq_length &&
        known->shape->layers.num_hidden_layers > 0) {
      add("every sample has max_seq_length; for shorter ones set mean_seq_length, or "
          "add a timing to measured");
    }
  }
  return all;
}

// "4 GPUs each does less than 85 % of what one does"; "" where that is not recommended.
std::string BeyondWorthwhile(const ScaleCurve& curve) {
  if (*curve.worthwhile >= *curve.recommended) return "";
  return fmt::format("{} each do less than {:.0f} % of what one does",
                     Plural(curve.steps[*curve.worthwhile].gpus(), "GPU"),
                     100 * kWorthwhileEfficiency);
}

json CurveJson(const ScaleQuestion& question, const ScaleCurve& curve) {
  json steps = json::array();
  for (const ScaleStep& step : curve.steps) steps.push_back(StepJson(step));
  json answer = {{"gpu", curve.gpu->id}, {"gpu_name", curve.gpu->display_name}, {"steps", steps}};
  if (!curve.recommended) return answer;
  const ScaleStep& chosen = curve.steps[*curve.recommended];
  answer["assumed"] = AssumedJson(question, chosen);
  answer["recommended"] = {{"gpus", chosen.gpus()},
                           {"why", curve.why},
                           {"why_not_more", curve.why_not_more},
                           {"schedule", ScheduleJson(question.spec, chosen)}};
  if (const std::string beyond = BeyondWorthwhile(curve); !beyond.empty()) {
    answer["recommended"]["beyond"] = beyond;
  }
  return answer;
}

const ScaleStep& RecommendedOf(const ScaleCurve& curve) { return curve.steps[*curve.recommended]; }

// Compares the recommended numbers of several kinds of GPU.
class KindsOfGpu {
 public:
  KindsOfGpu(const ScaleQuestion& question, const std::vector<ScaleCurve>& curves)
      : question_(question) {
    for (const ScaleCurve& curve : curves) {
      if (curve.recommended) running_.push_back(&curve);
    }
    all_priced_ = std::all_of(running_.begin(), running_.end(), [](const ScaleCurve* curve) {
      return RecommendedOf(*curve).cost.price.has_value();
    });
  }

  bool several() const { return running_.size() > 1; }

  // nullptr: nothing runs it.
  const ScaleCurve* First() const { return running_.empty() ? nullptr : running_.front(); }
  const ScaleCurve* Best() const {
    const auto best = std::min_element(running_.begin(), running_.end(),
                                       [&](const ScaleCurve* a, const ScaleCurve* b) {
                                         return Key(RecommendedOf(*a)) < Key(RecommendedOf(*b));
                                       });
    return best == running_.end() ? nullptr : *best;
  }

  std::string WhyBest() const {
    const char* cheapest = all_priced_ ? "the lowest cost" : "the fewest GPU-hours";
    std::string best = "the shortest run";
    if (question_.objective == Objective::kCost) best = cheapest;
    if (question_.objective == Objective::kDeadline) {
      best = IsLate(RecommendedOf(*Best())) ? "closest to the deadline, which none meets"
                                            : fmt::format("in time with {}", cheapest);
    }
    return fmt::format("{} of {} GPU types that can run it", best, running_.size());
  }

 private:
  bool IsLate(const ScaleStep& step) const {
    return step.run.seconds.p90 > question_.deadline_seconds;
  }

  // What the objective minimises; smaller comes first.
  std::tuple<bool, double, double> Key(const ScaleStep& step) const {
    const Spread& run = step.run.seconds;
    const double price = all_priced_ ? *step.cost.price : step.cost.gpu_hours;
    if (question_.objective == Objective::kCost) return {false, price, run.p50};
    if (question_.objective != Objective::kDeadline) return {false, run.p50, price};
    return {IsLate(step), IsLate(step) ? run.p90 : price, run.p50};
  }

  const ScaleQuestion& question_;
  std::vector<const ScaleCurve*> running_;
  bool all_priced_ = false;
};

}  // namespace

Result<json> AnswerScale(const ScaleQuestion& question, const std::vector<ScaledGpu>& gpus,
                         ToldInFull told) {
  std::vector<ScaleCurve> curves;
  for (const ScaledGpu& gpu : gpus) {
    Result<ScaleCurve> curve = Scale(question, gpu);
    if (!curve) return tl::unexpected<Error>(curve.error());
    curves.push_back(std::move(*curve));
  }
  const KindsOfGpu kinds(question, curves);
  const bool best = told == ToldInFull::kBest;
  const ScaleCurve* in_full = best ? kinds.Best() : kinds.First();
  if (in_full == nullptr && !curves.empty()) in_full = &curves.front();
  json answer = in_full == nullptr ? json::object() : CurveJson(question, *in_full);
  if (best && kinds.several()) answer["gpu_why"] = kinds.WhyBest();
  answer["name"] = question.spec.name;
  answer["objective"] = ToWord(question.objective);
  answer["accuracy"] = AccuracyJson(kTimeAccuracy);
  answer["gpus"] = json::array();
  for (const ScaleCurve& curve : curves) answer["gpus"].push_back(CurveJson(question, curve));
  return answer;
}

}  // namespace gpuadvise
