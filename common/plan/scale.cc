#include "common/plan/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/plan/prices.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

constexpr double kHoursPerDay = 24;
constexpr double kNearlyAsCheap = 1.02;
constexpr int64_t kUsualMost = 8;

int64_t MostNodes(const ScaleQuestion& question) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  return question.spec.resources.max_nodes.value_or(question.most_gpus ? kAny : 1);
}

// Layouts of 1, 2, 4, … GPUs: within a node, the whole node, then 2, 4, … whole nodes.
std::vector<std::pair<int64_t, int64_t>> Shapes(const ScaleQuestion& question,
                                                const ScaledGpu& gpu) {
  if (gpu.model->is_mig_slice) return {{1, 1}};  // no peer-to-peer: one slice per job
  std::vector<std::pair<int64_t, int64_t>> shapes;
  const int64_t per_node = std::max<int64_t>(gpu.gpus_per_node, 1);
  const ResourceSpec& limits = question.spec.resources;
  const int64_t asked = question.most_gpus.value_or(std::max(kUsualMost, per_node));
  const int64_t most = std::min(asked, limits.max_gpus.value_or(asked));
  for (const int64_t gpus : CountsOnANode(per_node)) {
    if (gpus <= most) shapes.emplace_back(gpus, 1);
  }
  for (int64_t nodes = 2; nodes * per_node <= most; nodes *= 2) {
    if (nodes > limits.max_nodes.value_or(nodes)) break;
    shapes.emplace_back(per_node, nodes);
  }
  return shapes;
}

Result<ScaleStep> StepOn(const ScaleQuestion& question, const ScaledGpu& on, int64_t gpus_per_node,
                         int64_t nodes) {
  const GpuModel& gpu = *on.model;
  ScaleStep step;
  step.gpus_per_node = gpus_per_node;
  step.nodes = nodes;
  step.impossible = WhyUnfit(question.spec, gpu);
  if (!step.impossible.empty()) return step;
  const StageQuestion where{gpu,
                            gpus_per_node,
                            nodes,
                            on.interconnect,
                            question.spec.output,
                            question.catalogue,
                            question.presets,
                            on.gpus_per_node};
  Result<RunPlan> run = PlanRun(question.spec, where);
  if (!run && IsFatalForAll(run.error())) return tl::unexpected<Error>(run.error());
  if (!run) {
    step.impossible = run.error().message;
    return step;
  }
  step.run = std::move(*run);
  step.cost = CostOfRun(step.run.seconds, step.gpus(), gpu,
                        PriceOfGpuHour(question.spec.resources.prices, gpu, question.catalogue));
  return step;
}

double SamplesPerGpuSecond(const StagePlan& plan, int64_t gpus) {
  return static_cast<double>(plan.work.samples) / plan.run_p50_seconds / static_cast<double>(gpus);
}

// Efficiency of `step` relative to the fewest GPUs that run it; stages are weighted by time.
double EfficiencyOf(const ScaleStep& step, const ScaleStep& fewest) {
  double ideal = 0;
  double real = 0;
  for (size_t i = 0; i < step.run.stages.size(); ++i) {
    const double share = SamplesPerGpuSecond(step.run.stages[i], step.gpus()) /
                         SamplesPerGpuSecond(fewest.run.stages[i], fewest.gpus());
    ideal += step.run.stages[i].run_p50_seconds * share;
    real += step.run.stages[i].run_p50_seconds;
  }
  return real > 0 ? ideal / real : 1;
}

std::string Hours(double seconds) {
  const double hours = seconds / kHourSeconds;
  return hours < 10 ? fmt::format("{:.1f} h", hours) : fmt::format("{:.0f} h", hours);
}

StepSeconds SumOf(const ScaleStep& step) {
  StepSeconds sum;
  for (const StagePlan& plan : step.run.stages) {
    const auto steps = static_cast<double>(plan.work.steps);
    sum.compute += steps * plan.step.compute;
    sum.traffic += steps * plan.step.traffic;
    sum.launches += steps * plan.step.launches;
    sum.communication += steps * plan.step.communication;
    sum.optimizer += steps * plan.step.optimizer;
    sum.loader += steps * plan.step.loader;
  }
  return sum;
}

// The part whose share of time grows most from `less` to `more`; "" if none stands out.
std::string WhatGrows(const ScaleStep& less, const ScaleStep& more) {
  const StepSeconds before = SumOf(less);
  const StepSeconds after = SumOf(more);
  if (before.total() <= 0 || after.total() <= 0) return "";
  struct Part {
    double StepSeconds::*seconds;
    const char* words;
  };
  constexpr Part kParts[] = {{&StepSeconds::communication, "communication between GPUs"},
                             {&StepSeconds::launches, "host overhead of small micro-batches"},
                             {&StepSeconds::traffic, "reading weights for small micro-batches"},
                             {&StepSeconds::optimizer, "the optimizer's step"},
                             {&StepSeconds::loader, "waiting for the data loader"}};
  const Part* most = nullptr;
  double growth = 0.02;
  for (const Part& part : kParts) {
    const double grown =
        after.*part.seconds / after.total() - before.*part.seconds / before.total();
    if (grown <= growth) continue;
    growth = grown;
    most = &part;
  }
  if (most == nullptr) return "";
  return fmt::format("{:.0f} % of a step is {}", 100 * (after.*most->seconds) / after.total(),
                     most->words);
}

std::string WhyNotMore(const ScaleQuestion& question, const ScaleCurve& curve) {
  const ScaleStep& chosen = curve.steps[*curve.recommended];
  const size_t next = *curve.recommended + 1;
  if (next >= curve.steps.size()) {
    if (curve.gpu->is_mig_slice) return "MIG slices have no peer-to-peer, so one slice per job";
    return fmt::format("more than {} were not tried (--max-gpus, resources)",
                       Plural(chosen.gpus(), "GPU"));
  }
  const ScaleStep& more = curve.steps[next];
  const std::string gpus = Plural(more.gpus(), "GPU");
  if (!more.impossible.empty()) return gpus + ": " + more.impossible;
  if (more.nodes > MostNodes(question)) {
    return fmt::format("{0} need {1} nodes: allow that with resources.max_nodes: {1}", gpus,
                       more.nodes);
  }
  const std::string grows = WhatGrows(chosen, more);
  const std::string because = grows.empty() ? "" : "; " + grows;
  if (more.run.seconds.p50 >= chosen.run.seconds.p50) {
    return fmt::format("{} would be slower, {} instead of {}{}", gpus, Hours(more.run.seconds.p50),
                       Hours(chosen.run.seconds.p50), because);
  }
  const double extra = more.cost.gpu_hours - chosen.cost.gpu_hours;
  const bool costs_more = extra > 0.05 * chosen.cost.gpu_hours;
  const std::string paid =
      costs_more ? fmt::format("for {:.{}f} GPU-hours more", extra, extra < 9.5 ? 1 : 0)
                 : "for as many GPU-hours";
  return fmt::format("{} would take {} instead of {} {} ({:.0f} % efficiency{})", gpus,
                     Hours(more.run.seconds.p50), Hours(chosen.run.seconds.p50), paid,
                     100 * more.efficiency, grows.empty() ? "" : ", as " + grows);
}

bool Runs(const ScaleStep& step) { return step.impossible.empty(); }

size_t Fastest(const ScaleCurve& curve, size_t fewest, size_t end) {
  size_t best = fewest;
  for (size_t i = fewest; i < end; ++i) {
    const ScaleStep& step = curve.steps[i];
    if (Runs(step) && step.run.seconds.p50 < curve.steps[best].run.seconds.p50) best = i;
  }
  return best;
}

size_t Cheapest(const ScaleCurve& curve, size_t fewest, size_t end) {
  size_t best = fewest;
  for (size_t i = fewest; i < end; ++i) {
    const ScaleStep& step = curve.steps[i];
    if (Runs(step) && step.cost.gpu_hours < curve.steps[best].cost.gpu_hours) best = i;
  }
  const double enough = kNearlyAsCheap * curve.steps[best].cost.gpu_hours;
  for (size_t i = best; i < end; ++i) {
    if (Runs(curve.steps[i]) && curve.steps[i].cost.gpu_hours <= enough) best = i;
  }
  return best;
}

size_t FirstInTime(const ScaleCurve& curve, size_t fewest, size_t end, double deadline_seconds) {
  size_t fastest = fewest;
  for (size_t i = fewest; i < end; ++i) {
    if (!Runs(curve.steps[i])) continue;
    if (curve.steps[i].run.seconds.p90 <= deadline_seconds) return i;
    if (curve.steps[i].run.seconds.p90 < curve.steps[fastest].run.seconds.p90) fastest = i;
  }
  return fastest;
}

size_t LastWorthwhile(const ScaleCurve& curve, size_t fewest, size_t end) {
  size_t last = fewest;
  for (size_t i = fewest + 1; i < end; ++i) {
    const ScaleStep& step = curve.steps[i];
    if (!Runs(step)) continue;
    if (step.efficiency < kWorthwhileEfficiency) break;
    if (step.run.seconds.p50 >= curve.steps[last].run.seconds.p50) break;
    last = i;
  }
  return last;
}

// `end`: of the steps that are allowed.
std::string WhyFastest(const ScaleCurve& curve, size_t fewest, size_t end) {
  const std::string within = end < curve.steps.size() ? " on the nodes allowed" : "";
  if (*curve.recommended != fewest) return "the shortest run" + within;
  const auto last = curve.steps.begin() + static_cast<std::ptrdiff_t>(end);
  if (std::count_if(curve.steps.begin(), last, Runs) > 1)
    return "more GPUs are not faster" + within;
  return "the only GPU count tried that can run it" + within;
}

void Recommend(const ScaleQuestion& question, size_t fewest, ScaleCurve& curve) {
  const auto allowed =
      std::find_if(curve.steps.begin(), curve.steps.end(),
                   [&](const ScaleStep& step) { return step.nodes > MostNodes(question); });
  // If only several nodes can run it, recommend those.
  const auto end = std::max(static_cast<size_t>(allowed - curve.steps.begin()), fewest + 1);
  curve.worthwhile = LastWorthwhile(curve, fewest, end);
  switch (question.objective) {
    case Objective::kCost:
      curve.recommended = Cheapest(curve, fewest, end);
      curve.why = fmt::format("the fewest GPU-hours ({:.0f}), or within 2 % of them and sooner",
                              curve.steps[*curve.recommended].cost.gpu_hours);
      break;
    case Objective::kDeadline: {
      curve.recommended = FirstInTime(curve, fewest, end, question.deadline_seconds);
      const bool makes_it =
          curve.steps[*curve.recommended].run.seconds.p90 <= question.deadline_seconds;
      curve.why = makes_it ? fmt::format("the fewest that take at most {} with 90 % probability",
                                         Hours(question.deadline_seconds))
                           : fmt::format("the fastest; none is done in {} with 90 % probability",
                                         Hours(question.deadline_seconds));
      break;
    }
    case Objective::kFinish:
    case Objective::kStart:
      curve.recommended = Fastest(curve, fewest, end);
      curve.why = WhyFastest(curve, fewest, end);
      break;
  }
  curve.why_not_more = WhyNotMore(question, curve);
}

}  // namespace

std::vector<int64_t> CountsOnANode(int64_t most) {
  std::set<int64_t> counts = {most};
  for (int64_t count = 1; count < most; count *= 2) counts.insert(count);
  if (most % 2 == 0) counts.insert(most / 2);
  return {counts.begin(), counts.end()};
}

Result<ScaleCurve> Scale(const ScaleQuestion& question, const ScaledGpu& gpu) {
  ScaleCurve curve;
  curve.gpu = gpu.model;
  std::optional<size_t> fewest;
  for (const auto& [gpus_per_node, nodes] : Shapes(question, gpu)) {
    if (question.budget != nullptr && question.budget->Spent()) {
      return tl::unexpected<Error>(question.budget->error());
    }
    Result<ScaleStep> step = StepOn(question, gpu, gpus_per_node, nodes);
    if (!step) return tl::unexpected<Error>(step.error());
    curve.steps.push_back(std::move(*step));
    ScaleStep& added = curve.steps.back();
    if (!Runs(added)) continue;
    if (!fewest) fewest = curve.steps.size() - 1;
    added.efficiency = EfficiencyOf(added, curve.steps[*fewest]);
  }
  if (fewest) Recommend(question, *fewest, curve);
  return curve;
}

std::vector<DayOfWork> PlanSchedule(const TrainSpec& spec, const ScaleStep& step) {
  std::vector<std::pair<std::string, double>> tasks;
  tasks.emplace_back("start", StartUpSeconds(spec) / kHourSeconds);
  for (size_t i = 0; i < step.run.stages.size(); ++i) {
    const std::string& name = step.run.stages[i].name;
    const std::string numbered =
        step.run.stages.size() == 1 ? "training" : fmt::format("stage {}", i + 1);
    tasks.emplace_back(name.empty() ? numbered : name,
                       step.run.stages[i].run_p50_seconds / kHourSeconds);
  }
  std::vector<DayOfWork> days;
  double clock = 0;  // hours since the start
  for (const auto& [task, hours] : tasks) {
    const double end = clock + hours;
    while (end - clock > 1e-6) {
      const auto day = static_cast<int64_t>(std::floor(clock / kHoursPerDay + 1e-9)) + 1;
      const double day_ends = static_cast<double>(day) * kHoursPerDay;
      const auto whole_days = static_cast<int64_t>((end - clock) / kHoursPerDay + 1e-9);
      const bool from_its_start = day_ends - clock > kHoursPerDay - 1e-6;
      if (from_its_start && whole_days > 0) {  // skip whole days: a run may take years
        days.push_back({day, day + whole_days - 1, task, kHoursPerDay});
        clock += static_cast<double>(whole_days) * kHoursPerDay;
      } else {
        const double until = std::min(end, day_ends);
        days.push_back({day, day, task, until - clock});
        clock = until;
      }
    }
  }
  return days;
}

}  // namespace gpuadvise
