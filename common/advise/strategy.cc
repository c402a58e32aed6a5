#include "common/advise/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/host_list.h"
#include "common/base/slurm_time.h"
#include "common/base/statistics.h"
#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/forecast/cheaper_start.h"
#include "common/forecast/limit_advice.h"
#include "common/plan/prices.h"
#include "common/slurm/policy.h"
#include "common/slurm/tres.h"

namespace gpuadvise {
namespace {

// The standard normal's quantiles at (i + 0.5) / 16: equally likely run times around the median.
constexpr std::array<double, 16> kNormalQuantiles = {
    -1.8627, -1.3180, -1.0100, -0.7764, -0.5791, -0.4023, -0.2372, -0.0784,
    0.0784,  0.2372,  0.4023,  0.5791,  0.7764,  1.0100,  1.3180,  1.8627};
constexpr double kTimeLimitMargin = 1.10;
constexpr int64_t kTimeLimitStep = int64_t{15} * 60;

// The limit that most runs of the strategy stay under; never shorter on other users' word.
int64_t EnoughTime(const Strategy& strategy) {
  const double p90 = std::max(strategy.run.p90, strategy.cautious_run_p90);
  const double wanted = std::min(p90 * kTimeLimitMargin, 1e9);
  return static_cast<int64_t>(std::ceil(wanted / kTimeLimitStep)) * kTimeLimitStep;
}

bool Resumes(const TrainSpec& spec) {
  return std::any_of(spec.stages.begin(), spec.stages.end(),
                     [](const Stage& stage) { return stage.training.resume; });
}

// Seconds of steps that are lost when a link ends: half of what lies between two checkpoints.
double RedoSeconds(const OutputSpec& output, const Strategy& strategy) {
  constexpr double kUnknown = 15 * 60;
  const auto every = output.save_steps;
  double run = 0, steps = 0;
  for (const StagePlan& stage : strategy.stages) {
    run += stage.run_p50_seconds;
    steps += static_cast<double>(stage.work.steps);
  }
  if (!every || steps <= 0) return kUnknown;
  return std::min(run, run / steps * static_cast<double>(*every)) / 2;
}

// A job of `limit` seconds as often as it takes.
Result<void> MakeChain(const TrainSpec& spec, int64_t limit, Strategy& strategy) {
  constexpr int64_t kMostLinks = 1'000;
  const double p50 = strategy.run.p50;
  const ResumeChain chain =
      ChainFor(p50, limit, StartUpSeconds(spec), RedoSeconds(spec.output, strategy));
  if (chain.segments < 1 || chain.segments > kMostLinks) {
    return Fail(
        ErrorCode::kInfeasible,
        fmt::format("would take {}: a job with a limit of {} ends before its first checkpoint, so "
                    "resuming does not help; save more often (output.save_steps)",
                    DurationInWords(p50), DurationInWords(static_cast<double>(limit))));
  }
  strategy.segments = chain.segments;
  strategy.time_limit_seconds = limit;
  strategy.run = LogNormalSpread(p50 + chain.lost_seconds, strategy.run_sigma);
  strategy.notes.push_back(fmt::format(
      "{} jobs of {} in sequence, each resumed from a checkpoint; each one queues again",
      chain.segments, DurationInWords(static_cast<double>(limit))));
  return {};
}

// The limit that goes into the forecast and to sbatch alike.
Result<void> ChooseTimeLimit(const TrainSpec& spec, const Constraints& constraints,
                             Strategy& strategy) {
  const Partition& partition = *strategy.placement.pool->partition;
  const SlurmNumber most = partition.max_time_seconds;
  const auto& fixed = constraints.time_limit_seconds;
  double p50 = strategy.run.p50;
  if (fixed) {
    if (most.has_value() && *fixed > most.value()) {
      return Fail(ErrorCode::kInfeasible,
                  fmt::format("the time limit {} exceeds the partition's {}: lower it, or omit it "
                              "to have one chosen",
                              DurationInWords(static_cast<double>(*fixed)),
                              DurationInWords(static_cast<double>(most.value()))),
                  "/time");
    }
    if (p50 > static_cast<double>(*fixed) && Resumes(spec)) {
      return MakeChain(spec, *fixed, strategy);
    }
    if (p50 > static_cast<double>(*fixed)) {
      return Fail(ErrorCode::kInfeasible,
                  fmt::format("would take {}, more than your time limit of {}",
                              DurationInWords(p50), DurationInWords(static_cast<double>(*fixed))));
    }
    strategy.time_limit_seconds = *fixed;
    strategy.limit_is_capped = strategy.run.p90 > static_cast<double>(*fixed);
    return {};
  }
  if (most.has_value() && p50 > static_cast<double>(most.value())) {
    if (Resumes(spec)) return MakeChain(spec, most.value(), strategy);
    return Fail(
        ErrorCode::kInfeasible,
        fmt::format("would take {}, more than the partition's {}; training.resume: true "
                    "makes it a chain of jobs",
                    DurationInWords(p50), DurationInWords(static_cast<double>(most.value()))));
  }
  strategy.time_limit_seconds = EnoughTime(strategy);
  if (strategy.cautious_run_p90 > strategy.run.p90) {
    strategy.notes.push_back("the time limit is chosen without other users' runs");
  }
  if (most.has_value() && strategy.time_limit_seconds > most.value()) {
    strategy.time_limit_seconds = most.value();
    strategy.limit_is_capped = strategy.run.p90 > static_cast<double>(most.value());
  }
  return {};
}

JobRequest RequestOf(const Constraints& constraints, const Strategy& strategy) {
  const Placement& placement = strategy.placement;
  JobRequest request;
  request.partitions = {placement.pool->partition->name};
  request.nodes_min = placement.nodes;
  request.tasks = placement.nodes;
  request.cpus_per_task = placement.cpus_per_node;
  request.cpus = placement.cpus_per_node * placement.nodes;
  if (placement.memory_per_node_mib) request.memory_per_node_mib = *placement.memory_per_node_mib;
  request.gpus_per_node = {{placement.pool->gres_type, placement.gpus_per_node}};
  request.features = constraints.constraint;
  if (!placement.selector.constraint.empty()) {
    request.features = request.features.empty() ? placement.selector.constraint
                                                : fmt::format("({})&{}", request.features,
                                                              placement.selector.constraint);
  }
  if (auto nodes = ExpandHostList(constraints.nodelist)) request.required_nodes = *nodes;
  if (auto nodes = ExpandHostList(constraints.exclude)) request.excluded_nodes = *nodes;
  const std::vector<std::string>& others = placement.selector.exclude;
  request.excluded_nodes.insert(request.excluded_nodes.end(), others.begin(), others.end());
  request.time_limit_seconds = strategy.time_limit_seconds;
  return request;
}

void NoteWhatMatters(Strategy& strategy) {
  const GpuModel& gpu = *strategy.placement.pool->model;
  if (strategy.precision == Precision::kFp16 && !gpu.bf16)
    strategy.notes.push_back("fp16: this GPU has no bf16");
  const bool counted = std::all_of(strategy.stages.begin(), strategy.stages.end(),
                                   [](const StagePlan& stage) { return stage.counted; });
  if (strategy.precision == Precision::kFp32 && !counted)
    strategy.notes.push_back("fp32: slower than the assumed rate");
  if (strategy.placement.nodes > 1 && strategy.placement.pool->interconnect.network_gb_per_s <= 0) {
    strategy.notes.push_back("low confidence: the network between nodes is not known");
  }
  for (const StagePlan& stage : strategy.stages) {
    if (stage.batch_measured) {
      strategy.notes.push_back(
          fmt::format("micro-batch {} was measured to fit; by the memory line it exceeds the "
                      "recommended margin",
                      stage.batch.micro_batch));
      break;
    }
  }
  for (const StagePlan& stage : strategy.stages) {
    if (!stage.lesson.empty()) strategy.notes.push_back(stage.lesson);
  }
  if (!strategy.MemoryChecked()) {
    strategy.notes.push_back(fmt::format("memory not checked: micro-batch {} may not fit {:g} GiB",
                                         strategy.stages.front().batch.micro_batch, gpu.memory_gb));
  }
  for (const StagePlan& stage : strategy.stages) {
    if (stage.disagreement.empty()) continue;
    strategy.notes.push_back(stage.disagreement);
    break;
  }
  if (strategy.limit_is_capped) {
    strategy.notes.push_back("may reach its time limit: save checkpoints and resume");
  }
}

void AddCost(const SchedulerConfig& config, double price_per_gpu_hour, Strategy& strategy) {
  const GpuModel& gpu = *strategy.placement.pool->model;
  const Partition& partition = *strategy.placement.pool->partition;
  const int64_t gpus = strategy.placement.gpus_per_node * strategy.placement.nodes;
  const RunCost cost = CostOfRun(strategy.run, gpus, gpu, price_per_gpu_hour);
  strategy.gpu_hours = cost.gpu_hours;
  strategy.kilowatt_hours = cost.kilowatt_hours;
  strategy.cost = cost.price;
  if (strategy.cost) return;
  const auto billing =
      ComputeBilling(partition.billing_weights, RequestTres(strategy.request, partition, config),
                     HasFlag(config.priority_flags, "MAX_TRES"));
  if (!billing || *billing <= 0) return;
  strategy.cost = *billing * strategy.run.mean / kHourSeconds;
  strategy.cost_is_billing = true;
}

void NoteDoubts(Strategy& strategy) {
  const std::vector<std::string>& doubts = strategy.start.doubts;
  strategy.notes.insert(strategy.notes.end(), doubts.begin(), doubts.end());
}

void NotePreemption(Strategy& strategy) {
  if (const std::string risk = DescribePreemption(strategy.start); !risk.empty()) {
    strategy.notes.push_back(risk);
  }
}

}  // namespace

Spread SpreadOf(const std::vector<double>& ascending) {
  double sum = 0;
  for (double value : ascending) sum += value;
  return {InterpolatedQuantile(ascending, .1), InterpolatedQuantile(ascending, .5),
          InterpolatedQuantile(ascending, .9), sum / static_cast<double>(ascending.size())};
}

bool Strategy::MemoryChecked() const {
  return std::all_of(stages.begin(), stages.end(),
                     [](const StagePlan& stage) { return stage.memory_checked; });
}

ResumeChain ChainFor(double run_seconds, int64_t limit_seconds, double start_seconds,
                     double redo_seconds) {
  const auto first = static_cast<double>(limit_seconds - kSaveSeconds);
  if (run_seconds <= static_cast<double>(limit_seconds)) return {};
  const double lost_per_link = start_seconds + redo_seconds;
  const double further = first - lost_per_link;  // what a later link adds
  if (first <= start_seconds || further <= 0) return {0, 0};
  const double more = std::ceil((run_seconds - first) / further);
  return {1 + static_cast<int64_t>(more), more * lost_per_link};
}

StageQuestion QuestionOn(const Placement& placement, const TrainSpec& spec,
                         const AdviceContext& context) {
  return {*placement.pool->model,
          placement.gpus_per_node,
          placement.nodes,
          placement.pool->interconnect,
          spec.output,
          context.gpus.catalogue(),
          context.models,
          placement.pool->gpus_per_node};
}

Result<void> FitAndEstimate(const TrainSpec& spec, const Constraints& constraints,
                            const AdviceContext& context, Strategy& strategy) {
  const Placement& placement = strategy.placement;
  Result<RunPlan> run = PlanRun(spec, QuestionOn(placement, spec, context));
  if (!run) return tl::unexpected<Error>(run.error());
  for (const StagePlan& stage : run->stages) {
    strategy.precision = stage.precision;
    if (stage.checkpointing_chosen) {
      strategy.notes.push_back(
          "computed with gradient_checkpointing: true, otherwise the batch is small");
    }
  }
  strategy.stages = std::move(run->stages);
  strategy.run = run->seconds;
  strategy.run_sigma = run->sigma;
  strategy.cautious_run_p90 = run->cautious_p90;
  Result<void> limited = ChooseTimeLimit(spec, constraints, strategy);
  if (!limited) return limited;
  strategy.request = RequestOf(constraints, strategy);
  strategy.account = constraints.account;
  AddCost(context.snapshot.config,
          PriceOfGpuHour(spec.resources.prices, *placement.pool->model, context.gpus.catalogue()),
          strategy);
  NoteWhatMatters(strategy);
  return {};
}

Result<void> PredictStart(const Constraints& constraints, const AdviceContext& context,
                          const Submitter& caller, Strategy& strategy) {
  constexpr double kWorthAnotherQos = 60;  // seconds of median wait
  std::optional<Error> first_error;
  bool found = false;
  double default_wait = 0;
  for (const std::string& qos : strategy.placement.qos) {
    if (context.BudgetSpent()) return context.BudgetError();
    Submitter submitter = caller;
    submitter.account = strategy.account;
    submitter.qos = qos;
    Result<StartSamples> start =
        StartOf(context.queue, strategy.request, submitter, context.Samples());
    if (!start) {
      if (!first_error) first_error = start.error();
      continue;
    }
    const double wait = start->Quantile(.5);
    if (!found) default_wait = wait;
    if (found && wait > strategy.start.Quantile(.5) - kWorthAnotherQos) continue;
    found = true;
    strategy.start = std::move(*start);
    strategy.qos = qos;
    const auto by_time_limit = StartOf(context.by_time_limit, strategy.request, submitter);
    strategy.wait_at_limits_seconds = by_time_limit ? by_time_limit->wait_seconds.front() : 0;
  }
  if (!found) return tl::unexpected<Error>(*first_error);
  if (!strategy.qos.empty() && constraints.qos.empty()) {
    strategy.reasons.push_back(
        fmt::format("QOS {} starts it {} earlier than your default", strategy.qos,
                    DurationInWords(default_wait - strategy.start.Quantile(.5))));
  }
  AddTotal(strategy);
  NotePreemption(strategy);
  NoteDoubts(strategy);
  return {};
}

void PredictDelay(const AdviceContext& context, const Submitter& caller, Strategy& strategy) {
  if (strategy.delay || !context.HasRoomForExtras()) return;
  Submitter submitter = caller;
  submitter.account = strategy.account;
  submitter.qos = strategy.qos;
  const double run = std::min(strategy.run.p50, static_cast<double>(strategy.time_limit_seconds));
  strategy.delay = DelayOf(context.queue, strategy.request, submitter, run);
}

void AddTotal(Strategy& strategy) {
  std::vector<double> waits(strategy.start.wait_seconds.begin(), strategy.start.wait_seconds.end());
  strategy.wait = SpreadOf(waits);
  std::vector<double>& totals = strategy.total_samples;
  totals.clear();
  totals.reserve(waits.size() * kNormalQuantiles.size());
  std::array<double, kNormalQuantiles.size()> runs{};
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i] = strategy.run.p50 * std::exp(strategy.run_sigma * kNormalQuantiles[i]);
  }
  const std::vector<int64_t>& lost = strategy.start.lost_seconds;
  for (double wait : waits) {
    for (const double run : runs) {
      // What is lost belongs to no wait in particular: every pair gets another one.
      const size_t number = totals.size();
      const double taken = lost.empty() ? 0 : static_cast<double>(lost[number % lost.size()]);
      double again = 0;  // the waits of later links, each another draw
      for (int64_t link = 1; link < strategy.segments; ++link) {
        again += waits[(number * 7 + static_cast<size_t>(link) * 13) % waits.size()];
      }
      totals.push_back(wait + again + run + taken);
    }
  }
  std::sort(totals.begin(), totals.end());
  strategy.total = SpreadOf(totals);
  strategy.total.mean = strategy.wait.mean * static_cast<double>(strategy.segments) +
                        strategy.run.mean + strategy.start.MeanLost();
}

std::optional<ShorterLimit> ShorterLimitFor(const AdviceContext& context, const Submitter& caller,
                                            const std::vector<Strategy>& ranked, bool resumes,
                                            int64_t floor_seconds) {
  constexpr size_t kMostAsked = 8;
  std::optional<CheaperStart> best;
  size_t place = 0;
  const auto done = [&](const CheaperStart& start, size_t of) {
    return start.start.Quantile(.5) + ranked[of].run.p50;
  };
  const auto risk_of = [&](const Strategy& strategy, int64_t limit) {
    return RiskOfTraining(strategy.run.p50, strategy.run_sigma, std::nullopt)
        .longer_than(static_cast<double>(limit));
  };
  for (size_t i = 0; i < std::min(ranked.size(), kMostAsked); ++i) {
    if (!context.HasRoomForExtras()) return std::nullopt;
    const Strategy& strategy = ranked[i];
    const int64_t enough = std::max(EnoughTime(strategy), floor_seconds);
    if (enough >= strategy.time_limit_seconds) continue;
    if (risk_of(strategy, enough) > (resumes ? kMaxRiskResumed : kMaxRisk)) continue;
    Submitter submitter = caller;
    submitter.account = strategy.account;
    submitter.qos = strategy.qos;
    auto sooner = WithShorterLimit(
        strategy.request, enough, strategy.start,
        [&](const JobRequest& request) { return StartOf(context.queue, request, submitter); });
    const bool gains = sooner && done(*sooner, i) + kWorthSeconds <
                                     ranked.front().start.Quantile(.5) + ranked.front().run.p50;
    if (!gains || (best && done(*best, place) <= done(*sooner, i))) continue;
    best = std::move(sooner);
    place = i;
  }
  if (!best) return std::nullopt;
  const Strategy& of = ranked[place];
  const int64_t limit = best->request.time_limit_seconds.value();
  const double sooner = of.start.Quantile(.5) - best->start.Quantile(.5);
  return ShorterLimit{
      place, limit,
      fmt::format("{} × {}: -t {} instead of {}: starts {} sooner{}; {} of such runs would be cut "
                  "off{}",
                  of.placement.pool->Name(), of.placement.gpus_per_node, FormatDuration(limit),
                  FormatDuration(of.time_limit_seconds), DurationInWords(sooner),
                  best->start.Quantile(.9) < 30 ? ", now" : "", RiskInWords(risk_of(of, limit)),
                  resumes ? " and resume from their last checkpoint" : "")};
}

}  // namespace gpuadvise
