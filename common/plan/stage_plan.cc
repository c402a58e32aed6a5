#include "common/plan/stage_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/bytes.h"
#include "common/base/unix_time.h"
#include "common/memory/adapters.h"
#include "common/memory/batch_fit.h"
#include "common/memory/measured_memory.h"
#include "common/memory/memory_model.h"
#include "common/memory/memory_range.h"
#include "common/plan/observed_batches.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

// Caps absurd sizes at the largest integer.
int64_t Whole(double bytes) { return std::llround(std::min(bytes, 9e18)); }

// Basis of memory: a line, or the model's shape; possibly neither.
struct MemoryBasis {
  std::optional<MemoryLine> line;  // corrected by measured peaks
  const ModelShape* shape = nullptr;
  TrainingSetup setup;    // with a shape
  double correction = 1;  // from measured peaks, with a shape
  bool own_peak = false;

  bool known() const { return line || shape != nullptr; }
  double RecommendedMargin() const {
    return line ? kRecommendedMargin : SafetyMargin(setup, own_peak);
  }
  int64_t Largest(const GpuModel& gpu, double margin) const {
    if (line) return LargestMicroBatch(*line, gpu, margin);
    const double usable = UsableBytes(gpu) / correction;
    return LargestMicroBatch(*shape, setup, usable * (1 - margin),
                             margin > 0 ? usable : std::numeric_limits<double>::infinity());
  }
  int64_t Bytes(int64_t micro_batch) const {
    if (line) return MemoryOf(*line, micro_batch);
    TrainingSetup at = setup;
    at.micro_batch = micro_batch;
    return Whole(correction * PeakMemory(*shape, at).total());
  }
};

MemoryBasis BasisOf(const Stage& stage, const KnownModel& model, const StageQuestion& question,
                    Precision precision) {
  const int64_t gpus = question.gpus_per_node * question.nodes;
  MemoryBasis basis{{}, model.counted(), SetupFrom(stage.training, precision, gpus)};
  if (model.line != nullptr) basis.line = CorrectedLine(*model.line, stage);
  if (basis.shape != nullptr) {
    basis.own_peak = HasOwnPeak(stage.training);
    basis.correction =
        PeakCorrection(*basis.shape, stage.training, model.fp16_is_safe, question.catalogue);
    basis.setup = SetupGivenMeasured(question.gpu, *basis.shape, stage.training, precision, gpus,
                                     question.catalogue);
  }
  return basis;
}

// The micro-batch if the model's memory is unknown: the largest that ran, or the fixed one,
// possibly unchecked.
Result<int64_t> LargestWithoutModel(const GpuCatalogue& catalogue, const Stage& stage,
                                    const MemoryBasis& basis, const GpuModel& gpu,
                                    StagePlan& plan) {
  const std::optional<int64_t>& fixed = stage.training.micro_batch;
  const ObservedBatches seen = BatchesSeenAnywhere(gpu, stage.training, basis.setup, catalogue);
  if (fixed && *fixed < seen.ran_out) {
    plan.memory_checked = *fixed <= seen.ran;
    return *fixed;
  }
  if (fixed || seen.ran_out == 1) {
    return Fail(ErrorCode::kInfeasible,
                fmt::format("micro-batch {} {}", seen.ran_out, seen.how_it_ran_out));
  }
  if (seen.ran > 0) return seen.ran;
  if (stage.training.measured.empty()) {
    return BadInput(
        "the memory of this model is not known: set model.preset, hf_config, or model.memory "
        "{base, per_sample, overhead}, or fix training.per_device_train_batch_size",
        "/spec" + stage.pointer + "/model");
  }
  return Fail(ErrorCode::kInfeasible,
              "the memory of this model is not known, and it has run on larger GPUs only");
}

// Largest micro-batch of `stage` on `gpu`: computed, or measured there; always below one that ran
// out of memory there.
Result<int64_t> LargestOn(const GpuCatalogue& catalogue, const Stage& stage,
                          const MemoryBasis& basis, const GpuModel& gpu, StagePlan& plan) {
  if (!basis.known()) return LargestWithoutModel(catalogue, stage, basis, gpu, plan);
  const ObservedBatches seen = BatchesSeenOn(gpu, stage.training, basis.setup, catalogue);
  int64_t fits = basis.Largest(gpu, basis.RecommendedMargin());
  const int64_t most = basis.Largest(gpu, 0);
  if (stage.training.micro_batch) {  // a user's choice may use the margin
    fits = std::max(fits, std::min(*stage.training.micro_batch, most));
  }
  if (IsTaken(seen, fits, most, basis.Largest(gpu, -kMemoryDoubt))) {
    plan.batch_measured = true;
    return seen.ran;
  }
  if (seen.ran_out == 1) return Fail(ErrorCode::kInfeasible, seen.how_it_ran_out);
  if (fits >= seen.ran_out) plan.lesson = seen.how_it_ran_out;
  if (fits >= 1) return std::min(fits, seen.ran_out - 1);
  if (most >= 1) {
    plan.lesson = "it fits only inside the safety margin of memory";
    return LargestAtPeakOfOne(std::min(most, seen.ran_out - 1), [&basis](int64_t batch) {
      return static_cast<double>(basis.Bytes(batch));
    });
  }
  std::string why = fmt::format("one sample takes {:.1f} GiB, the GPU has {:g} GiB",
                                Bytes{basis.Bytes(1)}.GiB(), gpu.memory_gb);
  if (seen.ran > 0) why += "; " + TimedAnyway(basis.line.has_value());
  return Fail(ErrorCode::kInfeasible, why);
}

// Uses the shape even with a memory line; uses the preset's timings if the spec has neither timings
// nor its own shape.
RunTimeBasis TimeBasisOf(const Stage& stage, const ModelPreset* preset, const KnownModel& model,
                         const MemoryBasis& memory, const StageQuestion& question) {
  RunTimeBasis basis;
  basis.measured = stage.training.measured;
  const bool of_preset = preset != nullptr && !model.changed;
  if (!HasTiming(stage.training) && of_preset) basis.measured = preset->measured;
  basis.params = stage.model.params.value_or(preset != nullptr ? preset->params : 0);
  basis.tokens_per_sample = stage.training.max_seq_length.value_or(0);
  basis.shape = model.shape.get();
  basis.setup = memory.setup;
  if (model.shape != nullptr && memory.shape == nullptr) {
    basis.setup = SetupGivenMeasured(question.gpu, *model.shape, stage.training,
                                     memory.setup.precision, memory.setup.gpus, question.catalogue);
  }
  basis.fp16_is_safe = model.fp16_is_safe;
  basis.parts_assumed = model.shape != nullptr && !AssumptionsOf(stage, *model.shape).empty();
  return basis;
}

constexpr double kYearSeconds = 365.25 * 86'400;
constexpr double kLongestRunSeconds = 100 * kYearSeconds;

// Time that checkpoint writing pauses the training.
double CheckpointSeconds(const OutputSpec& output, int64_t steps) {
  if (!output.checkpoint_bytes || !output.save_steps) return 0;
  const int64_t saves = steps / *output.save_steps;  // completed saves
  return static_cast<double>(saves) * static_cast<double>(*output.checkpoint_bytes) /
         kCheckpointBytesPerSecond;
}

// Adds the run time of `plan`, whose batch and work are known. Errors: EstimateRate's, and
// kInfeasible for absurdly long runs.
Result<void> AddRunTime(const Stage& stage, const RunTimeBasis& basis,
                        const StageQuestion& question, StagePlan& plan) {
  const ParallelLayout layout{
      &question.gpu,           question.gpus_per_node, question.nodes,    plan.batch.micro_batch,
      plan.batch.accumulation, question.interconnect,  question.node_gpus};
  const Result<Rate> rate = EstimateRate(stage.training, basis, layout, question.catalogue);
  if (!rate) return tl::unexpected<Error>(rate.error());
  plan.checkpoint_seconds = CheckpointSeconds(question.output, plan.work.steps);
  const double samples =
      static_cast<double>(plan.work.steps) * static_cast<double>(plan.batch.effective);
  plan.run_p50_seconds = samples / rate->samples_per_second + plan.checkpoint_seconds;
  if (rate->most_samples_per_second > 0) {
    plan.roofline_seconds = samples / rate->most_samples_per_second;
  }
  if (!(plan.run_p50_seconds <= kLongestRunSeconds)) {
    return Fail(ErrorCode::kInfeasible,
                fmt::format("would take {:.3g} years", plan.run_p50_seconds / kYearSeconds));
  }
  plan.sigma = rate->sigma;
  plan.basis = rate->basis;
  plan.disagreement = rate->disagreement;
  plan.step = rate->step;
  return {};
}

}  // namespace

Result<void> CheckTargetModules(const ModelShape& model, const TrainingSetup& setup,
                                const std::string& pointer) {
  const std::string key = pointer + "/training/lora/target_modules";
  if (TrainedParameters(model, setup) <= 0) {
    return BadInput(
        "lora.target_modules matches no layer of this model, so nothing would be trained", key);
  }
  if (setup.method == Method::kFull || model.media) return {};
  const std::string mistyped = MistypedTarget(model, setup);
  if (mistyped.empty()) return {};
  return BadInput("lora.target_modules: no layer of this model is called " + mistyped, key);
}

bool IsFatalForAll(const Error& error) {
  return error.code == ErrorCode::kBadInput || error.code == ErrorCode::kNotFound;
}

bool IsStartKnown(const TrainSpec& spec) {
  const TrainingSpec& training = spec.stages.front().training;
  const std::vector<MeasuredStep>& steps = training.measured;
  return training.start_seconds ||
         std::any_of(steps.begin(), steps.end(),
                     [](const MeasuredStep& step) { return step.start_seconds.has_value(); });
}

double StartUpSeconds(const TrainSpec& spec) {
  if (const auto given = spec.stages.front().training.start_seconds) return *given;
  std::vector<double> measured;
  for (const MeasuredStep& step : spec.stages.front().training.measured) {
    if (step.start_seconds) measured.push_back(*step.start_seconds);
  }
  if (!measured.empty()) {
    std::sort(measured.begin(), measured.end());
    return measured[measured.size() / 2];
  }
  const bool compiles = std::any_of(spec.stages.begin(), spec.stages.end(), [](const Stage& stage) {
    return stage.training.torch_compile.value_or(false);
  });
  return kStartUpSeconds + (compiles ? kCompileSeconds : 0);
}

Result<StagePlan> PlanStage(const Stage& stage, const StageQuestion& question) {
  Result<const ModelPreset*> known =
      question.presets.Require(stage.model.preset, "/spec" + stage.pointer + "/model/preset");
  if (!known) return tl::unexpected<Error>(known.error());
  const ModelPreset* preset = *known;
  Result<void> measured = CheckMeasured(stage, question.catalogue);
  if (!measured) {
    Error error = measured.error();
    error.pointer = "/spec" + error.pointer;
    return tl::unexpected<Error>(error);
  }
  const GpuModel& gpu = question.gpu;
  const int64_t gpus = question.gpus_per_node * question.nodes;
  const int64_t together = GpusOfASample(stage.training);
  if (gpus % together != 0) {
    return Fail(ErrorCode::kInfeasible,
                fmt::format("tensor × pipeline × context parallelism is {}, which does not divide "
                            "{}",
                            together, Plural(gpus, "GPU")));
  }
  Result<KnownModel> known_model = FindKnownModel(stage.model, preset);
  if (!known_model) {
    Error error = std::move(known_model.error());
    error.pointer = "/spec" + stage.pointer + error.pointer;
    return tl::unexpected<Error>(std::move(error));
  }
  const KnownModel& model = *known_model;
  Result<Precision> precision = PrecisionOn(gpu, stage.training, model.fp16_is_safe);
  if (!precision) return tl::unexpected<Error>(precision.error());
  const MemoryBasis memory = BasisOf(stage, model, question, *precision);
  if (memory.shape != nullptr) {
    const Result<void> targets =
        CheckTargetModules(*memory.shape, memory.setup, "/spec" + stage.pointer);
    if (!targets) return tl::unexpected<Error>(targets.error());
  }
  StagePlan plan;
  plan.name = stage.name;
  plan.counted = model.shape != nullptr;
  plan.precision = *precision;
  Result<int64_t> largest = LargestOn(question.catalogue, stage, memory, gpu, plan);
  if (!largest) return tl::unexpected<Error>(largest.error());
  Result<BatchPlan> batch = PlanBatch(stage.training, gpus / together, *largest);
  if (!batch) return tl::unexpected<Error>(batch.error());
  plan.batch = *batch;
  plan.work = CountWork(stage.training, batch->effective);
  if (memory.known()) plan.memory_bytes = memory.Bytes(batch->micro_batch);
  if (plan.batch_measured) plan.memory_bytes = std::min(plan.memory_bytes, gpu.memory_bytes);
  if (memory.shape != nullptr) {
    plan.checkpointing = memory.setup.checkpointing != Checkpointing::kNone;
  }
  plan.checkpointing_chosen = memory.shape != nullptr && !stage.training.gradient_checkpointing &&
                              memory.setup.checkpointing == Checkpointing::kFull;
  const Result<void> timed =
      AddRunTime(stage, TimeBasisOf(stage, preset, model, memory, question), question, plan);
  if (timed) return plan;
  Error error = timed.error();
  const bool from_preset = stage.training.measured.empty() && preset != nullptr;
  if (IsFatalForAll(error)) {
    error.pointer = "/spec" + stage.pointer + "/training" + (from_preset ? "" : error.pointer);
  }
  return tl::unexpected<Error>(std::move(error));
}

Spread LogNormalSpread(double median, double sigma) {
  constexpr double kNormalP90 = 1.2816;
  return {median * std::exp(-kNormalP90 * sigma), median, median * std::exp(kNormalP90 * sigma),
          median * std::exp(sigma * sigma / 2)};
}

namespace {

constexpr const char* kHeldBack = ", as far as what is known without them allows";

bool HasLinesOfOthers(const TrainSpec& spec) {
  return std::any_of(spec.stages.begin(), spec.stages.end(), [](const Stage& stage) {
    return std::any_of(stage.training.measured.begin(), stage.training.measured.end(),
                       [](const MeasuredStep& step) { return step.by_others; });
  });
}

TrainSpec WithoutLinesOfOthers(TrainSpec spec) {
  for (Stage& stage : spec.stages) {
    std::erase_if(stage.training.measured, [](const MeasuredStep& step) { return step.by_others; });
  }
  return spec;
}

// Sums the stages' times after `start` seconds.
void AddUp(double start, RunPlan& run) {
  double seconds = start;
  double doubt = 0;
  for (const StagePlan& plan : run.stages) {
    seconds += plan.run_p50_seconds;
    doubt += plan.sigma * plan.run_p50_seconds;  // errors are correlated: sigmas add up
  }
  run.sigma = doubt / seconds;
  run.seconds = LogNormalSpread(seconds, run.sigma);
  run.cautious_p90 = run.seconds.p90;
}

double Within(double seconds, double known) {
  return std::clamp(seconds, known / kMaxChangeByOthers, known * kMaxChangeByOthers);
}

Result<RunPlan> PlanAsMeasured(const TrainSpec& spec, const StageQuestion& question) {
  RunPlan run;
  for (const Stage& stage : spec.stages) {
    Result<StagePlan> plan = PlanStage(stage, question);
    if (!plan) return tl::unexpected<Error>(plan.error());
    run.stages.push_back(std::move(*plan));
  }
  AddUp(StartUpSeconds(spec), run);
  return run;
}

}  // namespace

Result<RunPlan> PlanRun(const TrainSpec& spec, const StageQuestion& question) {
  if (!HasLinesOfOthers(spec)) return PlanAsMeasured(spec, question);
  const TrainSpec alone = WithoutLinesOfOthers(spec);
  Result<RunPlan> known = PlanAsMeasured(alone, question);
  if (!known) return known;
  Result<RunPlan> run = PlanAsMeasured(spec, question);
  if (!run) return run;
  for (size_t i = 0; i < run->stages.size(); ++i) {
    StagePlan& stage = run->stages[i];
    const double own = known->stages[i].run_p50_seconds;
    const double least = std::min(stage.roofline_seconds, own);
    const double bounded = std::max(Within(stage.run_p50_seconds, own), least);
    if (bounded != stage.run_p50_seconds) stage.basis += kHeldBack;
    stage.run_p50_seconds = bounded;
  }
  AddUp(Within(StartUpSeconds(spec), StartUpSeconds(alone)), *run);
  run->cautious_p90 = std::max(run->seconds.p90, known->seconds.p90);
  return run;
}

RunCost CostOfRun(const Spread& run, int64_t gpus, const GpuModel& gpu, double price_per_gpu_hour) {
  RunCost cost;
  cost.gpu_hours = static_cast<double>(gpus) * run.mean / kHourSeconds;
  if (price_per_gpu_hour > 0) cost.price = cost.gpu_hours * price_per_gpu_hour;
  if (gpu.tdp_watts > 0) cost.kilowatt_hours = cost.gpu_hours * gpu.tdp_watts / 1000;
  return cost;
}

}  // namespace gpuadvise
