#include "common/plan/answer_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/plan/assumptions.h"
#include "common/plan/model_accuracy.h"
#include "common/plan/prices.h"
#include "common/plan/ways_to_fit.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {
namespace {

api::ScaleStage StageOf(const StagePlan& plan) {
  api::ScaleStage stage;
  stage.name = plan.name;
  stage.hours = plan.run_p50_seconds / kHourSeconds;
  stage.steps = plan.work.steps;
  stage.seconds_per_step = (plan.run_p50_seconds - plan.checkpoint_seconds) /
                           static_cast<double>(std::max<int64_t>(plan.work.steps, 1));
  stage.checkpoint_seconds = plan.checkpoint_seconds;
  stage.micro_batch = plan.batch.micro_batch;
  stage.accumulation = plan.batch.accumulation;
  stage.effective_batch_size = plan.batch.effective;
  stage.precision = ToWord(plan.precision);
  stage.gradient_checkpointing_chosen = plan.checkpointing_chosen;
  stage.memory_checked = plan.memory_checked;
  stage.basis = plan.basis;
  stage.disagreement = plan.disagreement;
  if (plan.memory_bytes > 0) stage.memory_bytes = plan.memory_bytes;
  const StepSeconds& step = plan.step;
  if (step.total() > 0) {
    stage.step = {step.compute,       step.traffic,   step.launches,
                  step.communication, step.optimizer, step.loader};
  }
  return stage;
}

api::ScaleStep StepOf(const ScaleStep& step) {
  api::ScaleStep row;
  row.gpus = step.gpus();
  row.gpus_per_node = step.gpus_per_node;
  row.nodes = step.nodes;
  row.runs = step.impossible.empty();
  row.reason = step.impossible;
  if (!row.runs) return row;
  api::ScaleFigures& figures = row.figures.emplace();
  figures.hours = step.run.seconds.p50 / kHourSeconds;
  figures.run_p50_seconds = step.run.seconds.p50;
  figures.run_p90_seconds = step.run.seconds.p90;
  figures.efficiency = step.efficiency;
  figures.gpu_hours = step.cost.gpu_hours;
  figures.cost = step.cost.price;
  figures.energy_kwh = step.cost.kilowatt_hours;
  for (const StagePlan& plan : step.run.stages) figures.stages.push_back(StageOf(plan));
  return row;
}

// Assumptions behind the curve, without duplicates.
std::vector<std::string> AssumedFor(const ScaleQuestion& question) {
  const TrainSpec& spec = question.spec;
  std::vector<std::string> all = FindAssumptions(spec, question.presets).sentences;
  const bool unequal = std::any_of(spec.stages.begin(), spec.stages.end(), [](const Stage& stage) {
    return stage.training.max_steps && !stage.training.effective_batch_size;
  });
  if (unequal) {
    all.push_back(
        "with the same number of steps, more GPUs train on more samples: set effective_batch_size "
        "to compare equal trainings");
  }
  return all;
}

// "4 GPUs each does less than 85 % of what one does"; "" if not recommended.
std::string BeyondWorthwhile(const ScaleCurve& curve) {
  if (*curve.worthwhile >= *curve.recommended) return "";
  return fmt::format("{} each do less than {:.0f} % of what one does",
                     Plural(curve.steps[*curve.worthwhile].gpus(), "GPU"),
                     100 * kWorthwhileEfficiency);
}

api::ScaleCurve CurveOf(const ScaleQuestion& question, const ScaleCurve& curve) {
  api::ScaleCurve answer;
  answer.gpu = curve.gpu->id;
  answer.gpu_name = curve.gpu->display_name;
  for (const ScaleStep& step : curve.steps) answer.steps.push_back(StepOf(step));
  if (!curve.recommended) return answer;
  const ScaleStep& chosen = curve.steps[*curve.recommended];
  answer.assumed = AssumedFor(question);
  answer.recommended = {chosen.gpus(), curve.why, curve.why_not_more, {}, BeyondWorthwhile(curve)};
  for (const DayOfWork& day : PlanSchedule(question.spec, chosen)) {
    answer.recommended->schedule.push_back({day.first_day, day.last_day, day.task, day.hours});
  }
  return answer;
}

const ScaleStep& RecommendedOf(const ScaleCurve& curve) { return curve.steps[*curve.recommended]; }

// Compares recommended GPU counts across kinds.
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

  // nullptr: none can run it.
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

  // Sort key by the objective; smaller is better.
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

// With as many GPUs of each kind as were tried.
std::vector<std::string> WaysFor(const ScaleQuestion& question,
                                 const std::vector<ScaleCurve>& curves) {
  std::vector<GpusOfOneJob> places;
  for (const ScaleCurve& curve : curves) {
    if (!curve.steps.empty()) places.push_back({curve.gpu, curve.steps.back().gpus()});
  }
  return WaysToFit(question.spec, question.presets, question.catalogue, std::move(places));
}

}  // namespace

Result<api::Scale> AnswerScale(const ScaleQuestion& question, const std::vector<ScaledGpu>& gpus,
                               DetailedGpu told) {
  const Result<void> priced =
      CheckPrices(question.spec.resources.prices, "/resources/prices", question.catalogue);
  if (!priced) return tl::unexpected<Error>(priced.error());
  std::vector<ScaleCurve> curves;
  for (const ScaledGpu& gpu : gpus) {
    Result<ScaleCurve> curve = Scale(question, gpu);
    if (!curve) return tl::unexpected<Error>(curve.error());
    curves.push_back(std::move(*curve));
  }
  const KindsOfGpu kinds(question, curves);
  const bool best = told == DetailedGpu::kBest;
  const ScaleCurve* in_full = best ? kinds.Best() : kinds.First();
  if (in_full == nullptr && !curves.empty()) in_full = &curves.front();
  api::Scale answer;
  answer.name = question.spec.name;
  answer.objective = ToWord(question.objective);
  if (in_full != nullptr) answer.in_full = CurveOf(question, *in_full);
  if (best && kinds.several()) answer.gpu_why = kinds.WhyBest();
  for (const ScaleCurve& curve : curves) answer.gpus.push_back(CurveOf(question, curve));
  if (in_full == nullptr || !in_full->recommended) answer.ways_to_fit = WaysFor(question, curves);
  answer.accuracy = ComputeAccuracy(kTimeAccuracy);
  return answer;
}

}  // namespace gpuadvise
