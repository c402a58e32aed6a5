#include "common/time/training_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/words.h"
#include "common/memory/batch_fit.h"
#include "common/memory/measured_memory.h"
#include "common/spec/stage_needs.h"

namespace gpuadvise {
namespace {

constexpr double kLaunchSamples = 0.25;
constexpr double kFarFromCount = 1.6;  // twice the p90 error of computed times
constexpr double kUnlikeShare = 0.2;   // of a factor's logarithm: its cause may differ elsewhere
constexpr int64_t kUsualNodeGpus = 8;
// Exponent of a stand-in's ratio between two cards. Vision and speech trainings on 9 to 13 cards
// (lambdal/deeplearning-benchmark) give 0.66 to 1.02, and 0.76 overall; language models between
// A100 and H100 (mosaicml/llm-foundry) 0.94 to 1.23.
constexpr double kStandInSlope = 0.76;
constexpr double kTransformerSlope = 1;
constexpr double kSigmaSameGpu = 0.08;

// Standard deviations of ln(measured / computed) of a step's parts. 80 % of the rows of sources
// that had no part in the constants lie within 1.28 of them, where each source counts as much as
// any other: docs/models.md has the sources and figures of each.
struct GpuDeviation {
  double described;
  double assumed;  // something of the training is not stated
};
constexpr GpuDeviation kSigmaOfTexts = {0.16, 0.21};
constexpr GpuDeviation kSigmaOfMedia = {0.20, 0.30};
constexpr double kSigmaOfHost = 0.35;
constexpr double kSigmaOfKnownLinks = 0.5;  // NVLink, or described
constexpr double kSigmaOfPcie = 0.7;        // lanes are shared in ways that differ by machine
constexpr double kSigmaOfOffload = 0.5;

constexpr double kSigmaOtherGpuNoShape = 0.30;
constexpr double kSigmaStandIn = 0.40;
constexpr double kSigmaUnknownNetwork = 0.50;
constexpr int64_t kComparedBatch = 8;  // for comparing cards without a shape
constexpr int64_t kComparedTokens = 512;
constexpr double kNodeDoublingEfficiency = 0.9;

// Efficiency with 1, 2, 4 and 8 GPUs in a node.
std::array<double, 4> EfficiencyTable(GpuLink link) {
  switch (link) {
    case GpuLink::kNone:
      return {1, 0, 0, 0};
    case GpuLink::kPcieNoP2p:
      return {1, .75, .71, .53};
    case GpuLink::kPcie:
    case GpuLink::kNvlinkPairs:
      return {1, .93, .89, .80};
    case GpuLink::kNvlink:
      return {1, .95, .94, .94};
  }
  return {1, .75, .71, .53};
}

double OnOneNode(GpuLink link, int64_t gpus) {
  const std::array<double, 4> table = EfficiencyTable(link);
  double place = std::clamp(std::log2(static_cast<double>(gpus)), 0.0, 3.0);
  auto below = static_cast<size_t>(place);
  size_t above = std::min<size_t>(below + 1, 3);
  return table[below] + (table[above] - table[below]) * (place - static_cast<double>(below));
}

double MicroBatchEfficiency(int64_t micro_batch) {
  auto m = static_cast<double>(micro_batch);
  return m / (m + kLaunchSamples);
}

// Samples processed at once by `gpus` GPUs, some of which may share one sample.
int64_t SamplesAtOnce(const TrainingSpec& training, int64_t micro_batch, int64_t gpus) {
  return micro_batch * std::max<int64_t>(gpus / GpusOfASample(training), 1);
}

// Samples of one measured optimizer step: as stated, or else from the spec's plan at that batch.
double SamplesOfStep(const TrainingSpec& training, const MeasuredStep& step) {
  if (step.effective_batch_size > 0) return static_cast<double>(step.effective_batch_size);
  TrainingSpec at_batch;  // only what planning needs: avoids copying all lines
  at_batch.effective_batch_size = training.effective_batch_size;
  at_batch.accumulation = training.accumulation;
  at_batch.micro_batch = step.micro_batch;
  const int64_t at_once = SamplesAtOnce(training, step.micro_batch, step.gpus) / step.micro_batch;
  Result<BatchPlan> plan = PlanBatch(at_batch, at_once, step.micro_batch);
  return static_cast<double>(plan ? plan->effective : step.micro_batch * at_once);
}

struct Anchor {
  const MeasuredStep* step;
  const GpuModel* gpu;
};

Result<std::vector<Anchor>> FindAnchors(const RunTimeBasis& basis, const GpuCatalogue& catalogue) {
  std::vector<Anchor> anchors;
  for (size_t i = 0; i < basis.measured.size(); ++i) {
    const MeasuredStep& step = basis.measured[i];
    const GpuModel* gpu = catalogue.Resolve(step.gpu);
    if (gpu == nullptr) {
      return BadInput(fmt::format("measured: unknown GPU {}; use a name of the catalogue such as "
                                  "rtx4090, l40s or a100-80gb",
                                  Quoted(step.gpu)),
                      fmt::format("/measured/{}/gpu", i));
    }
    if (step.seconds_per_step <= 0) continue;  // peak only, or out of memory
    if (step.gpus > 1 && ScalingEfficiency(gpu->link, step.gpus, 1) <= 0) {
      return BadInput(fmt::format("measured: {} cannot train on {} together, a MIG slice has no "
                                  "peer-to-peer",
                                  gpu->display_name, step.gpus),
                      fmt::format("/measured/{}/gpus", i));
    }
    anchors.push_back({&step, gpu});
  }
  return anchors;
}

std::string PlaceOf(const Anchor& anchor) {
  return fmt::format("{} × {}", anchor.gpu->display_name, anchor.step->gpus);
}

// "timed on RTX 4090 × 4", "measured on 3 of your runs, RTX 4090 × 4"
std::string TimedOn(const Anchor& anchor) {
  if (anchor.step->by.empty()) return "timed on " + PlaceOf(anchor);
  return fmt::format("measured on {}, {}", anchor.step->by, PlaceOf(anchor));
}

std::string CarriedOverFrom(const std::vector<Anchor>& anchors, const Anchor& nearest) {
  const std::string by = nearest.step->by.empty() ? "" : nearest.step->by + ", ";
  const std::string more =
      anchors.size() > 1 ? fmt::format(" and {} more", anchors.size() - 1) : "";
  return "carried over from " + by + PlaceOf(nearest) + more;
}

// "the timings disagree by 34 %: …"; "" if they (nearly) agree.
std::string DisagreementOf(const std::vector<Anchor>& anchors, const CarriedOver& carried) {
  const double apart = std::expm1(carried.apart);
  if (apart <= kDisagreement) return "";
  return fmt::format("your timings disagree by {:.0f} %: {} took longer than {} would suggest",
                     100 * apart, PlaceOf(anchors[carried.highest]),
                     PlaceOf(anchors[carried.lowest]));
}

// "RTX 4090 × 4 took 2.3 times as long as computed: …"; "" if close to the computed time.
std::string FarFromCount(const Anchor& anchor, const Timing& timing) {
  const double factor = std::exp(timing.log_factor);
  if (factor > kFarFromCount) {
    return fmt::format(
        "{} took {:.1f} times as long as computed: the line is from another training, or something "
        "else slowed it (data loading, software, other jobs)",
        PlaceOf(anchor), factor);
  }
  if (factor < 1 / kFarFromCount) {
    return fmt::format(
        "{} took {:.2f} of the computed time: the line is from another training, or its samples "
        "are shorter than max_seq_length (set mean_seq_length)",
        PlaceOf(anchor), factor);
  }
  return "";
}

// Root of the variances of `carried`, and of what else deviates on another GPU type.
double SigmaWith(const CarriedOver& carried, double elsewhere) {
  const double further = carried.on_this_card ? kSigmaSameGpu : elsewhere;
  return std::sqrt(carried.variance + carried.expected + further * further);
}

Rate Judged(const std::vector<Anchor>& anchors, const CarriedOver& carried, double sigma) {
  const Anchor& nearest = anchors[carried.nearest];
  Rate rate;
  rate.sigma = sigma;
  rate.basis = carried.on_this_card ? TimedOn(nearest) : CarriedOverFrom(anchors, nearest);
  rate.disagreement = DisagreementOf(anchors, carried);
  return rate;
}

TrainingSetup SetupOnCard(const TrainingSpec& training, const RunTimeBasis& basis,
                          const GpuModel& gpu) {
  TrainingSetup setup = basis.setup;
  const Result<Precision> precision = PrecisionOn(gpu, training, basis.fp16_is_safe);
  if (precision) setup.precision = *precision;
  return setup;
}

// --- with a shape ---

StepSeconds Counted(const TrainingSpec& training, const RunTimeBasis& basis, TrainingSetup setup,
                    const ParallelLayout& shape) {
  setup.gpus = shape.gpus_per_node * shape.nodes;
  setup.micro_batch = shape.micro_batch;
  StepLayout step{shape.gpus_per_node, shape.nodes, shape.accumulation, shape.interconnect};
  step.loader_seconds_per_sample = training.dataloader_seconds_per_sample.value_or(0);
  step.loader_workers = training.dataloader_num_workers.value_or(1);
  return ComputeStepSeconds(*basis.shape, setup, *shape.gpu, step);
}

// Distribution of a timing's GPUs. On the card in question, assumes the same wiring as for the run.
ParallelLayout LayoutOf(const TrainingSpec& training, const Anchor& anchor,
                        const ParallelLayout& asked) {
  const MeasuredStep& step = *anchor.step;
  ParallelLayout layout{anchor.gpu, step.gpus, 1, step.micro_batch, 1, {}, 0};
  const double micro_batches =
      SamplesOfStep(training, step) /
      static_cast<double>(SamplesAtOnce(training, step.micro_batch, step.gpus));
  layout.accumulation = std::max<int64_t>(1, std::llround(micro_batches));
  const auto over = [&](int64_t nodes) {
    layout.nodes = nodes;
    layout.gpus_per_node = step.gpus / nodes;
  };
  if (step.nodes > 1 && step.gpus % step.nodes == 0) over(step.nodes);
  if (anchor.gpu != asked.gpu) {
    const bool unsaid = step.nodes == 0 && step.gpus > kUsualNodeGpus;
    if (unsaid && step.gpus % kUsualNodeGpus == 0) over(step.gpus / kUsualNodeGpus);
    return layout;
  }
  layout.interconnect = asked.interconnect;
  const int64_t node = asked.node_gpus > 0 ? asked.node_gpus : asked.gpus_per_node;
  const bool several = asked.node_gpus > 0 || asked.nodes > 1;
  if (step.nodes == 0 && several && step.gpus > node && step.gpus % node == 0) {
    over(step.gpus / node);
  }
  return layout;
}

double ComputeShare(const StepSeconds& counted) {
  const double busy = counted.compute + counted.traffic;
  return busy > 0 ? counted.compute / busy : 0;
}

// Without parts.
TimedPlace PlaceOf(const ParallelLayout& layout, const StepSeconds& counted) {
  return {layout.gpu,
          layout.gpus_per_node * layout.nodes,
          layout.micro_batch,
          layout.accumulation,
          ComputeShare(counted),
          {},
          0};
}

// Measured over computed seconds of the anchor's own step.
Timing TimingByShape(const TrainingSpec& training, const RunTimeBasis& basis, const Anchor& anchor,
                     const ParallelLayout& asked, MeasuredSetups& setups) {
  const ParallelLayout layout = LayoutOf(training, anchor, asked);
  const TrainingSetup setup = setups.Of(*anchor.step, *anchor.gpu);
  const StepSeconds counted = Counted(training, basis, setup, layout);
  return {PlaceOf(basis, setup, layout, counted),
          std::log(anchor.step->seconds_per_step / counted.total())};
}

StepSeconds Scaled(StepSeconds step, double factor) {
  for (double* part : {&step.compute, &step.traffic, &step.launches, &step.communication,
                       &step.optimizer, &step.loader}) {
    *part *= factor;
  }
  return step;
}

Rate FromShape(const TrainingSpec& training, const RunTimeBasis& basis,
               const std::vector<Anchor>& anchors, const ParallelLayout& shape,
               const GpuCatalogue& catalogue) {
  TrainingSetup setup = SetupOnCard(training, basis, *shape.gpu);
  const StepSeconds counted = Counted(training, basis, setup, shape);
  const TimedPlace place = PlaceOf(basis, setup, shape, counted);
  Rate rate;
  rate.sigma = DeviationOf(place);
  rate.basis = "computed from the model's shape, without a timing";
  rate.step = counted;
  if (!anchors.empty()) {
    std::vector<Timing> timings;
    MeasuredSetups setups(*basis.shape, training, basis.fp16_is_safe, catalogue);
    for (const Anchor& anchor : anchors) {
      timings.push_back(TimingByShape(training, basis, anchor, shape, setups));
    }
    const CarriedOver carried = CarryOver(timings, place);
    rate = Judged(anchors, carried, SigmaOf(carried));
    if (rate.disagreement.empty()) {
      rate.disagreement = FarFromCount(anchors[carried.nearest], timings[carried.nearest]);
    }
    rate.step = Scaled(counted, std::exp(carried.log_factor));
  }
  const int64_t samples =
      SamplesAtOnce(training, shape.micro_batch, shape.gpus_per_node * shape.nodes) *
      shape.accumulation;
  rate.samples_per_second = static_cast<double>(samples) / rate.step.total();
  setup.micro_batch = shape.micro_batch;
  rate.most_samples_per_second = static_cast<double>(samples) /
                                 static_cast<double>(shape.accumulation) /
                                 RooflineSeconds(*basis.shape, setup, *shape.gpu);
  return rate;
}

// --- without one ---

// Number of GPUs with an infinite micro-batch that equal `layout`.
double SaturatedGpus(const ParallelLayout& layout) {
  return static_cast<double>(layout.gpus_per_node * layout.nodes) *
         MicroBatchEfficiency(layout.micro_batch) *
         ScalingEfficiency(layout.gpu->link, layout.gpus_per_node, layout.nodes);
}

// A step of a plain transformer on one GPU with `samples` samples.
StepSeconds StandIn(const TrainingSpec& training, const RunTimeBasis& basis, const GpuModel& gpu,
                    int64_t samples) {
  constexpr double kUsualParameters = 1e9;
  TrainingSetup setup = SetupOnCard(training, basis, gpu);
  setup.gpus = 1;
  setup.zero_stage = 0;  // nothing to shard
  setup.micro_batch = samples;
  setup.seq_length = basis.tokens_per_sample > 0 ? basis.tokens_per_sample : kComparedTokens;
  const ModelShape model = GenericTransformer(basis.params > 0 ? basis.params : kUsualParameters);
  return ComputeStepSeconds(model, setup, gpu, {});
}

// Whether the file says of a model of unknown shape what only large transformers need.
bool TrainsTransformer(const TrainingSpec& training, const RunTimeBasis& basis) {
  return training.method != Method::kFull || training.zero_stage || training.fsdp ||
         training.trainer != Trainer::kSft || basis.tokens_per_sample > 0;
}

// How many of the stand-in's samples take `seconds` on `gpu`, at least one: a training with long
// steps keeps a card busy, one with short steps waits for its host.
int64_t SamplesThatTake(double seconds, const TrainingSpec& training, const RunTimeBasis& basis,
                        const GpuModel& gpu) {
  constexpr int64_t kMost = int64_t{1} << 24;
  int64_t samples = 1;
  while (samples < kMost && StandIn(training, basis, gpu, 2 * samples).total() <= seconds) {
    samples *= 2;
  }
  for (int64_t more = samples / 2; more > 0; more /= 2) {
    if (StandIn(training, basis, gpu, samples + more).total() <= seconds) samples += more;
  }
  return samples;
}

// Seconds per sample on one GPU here: those on one measured GPU, times the stand-in's ratio of the
// two cards. A training of which nothing is known differs less than the stand-in: part of its time
// is host, data or memory.
Timing TimingByStandIn(const TrainingSpec& training, const RunTimeBasis& basis,
                       const Anchor& anchor, const ParallelLayout& asked) {
  const ParallelLayout layout = LayoutOf(training, anchor, asked);
  const double measured =
      anchor.step->seconds_per_step / SamplesOfStep(training, *anchor.step) * SaturatedGpus(layout);
  const int64_t samples = SamplesThatTake(measured * static_cast<double>(layout.micro_batch),
                                          training, basis, *anchor.gpu);
  const StepSeconds there = StandIn(training, basis, *anchor.gpu, samples);
  const StepSeconds here = StandIn(training, basis, *asked.gpu, samples);
  const double slope = TrainsTransformer(training, basis) ? kTransformerSlope : kStandInSlope;
  return {PlaceOf(layout, there),
          std::log(measured) + slope * std::log(here.total() / there.total())};
}

Result<Rate> WithoutShape(const TrainingSpec& training, const RunTimeBasis& basis,
                          const std::vector<Anchor>& anchors, const ParallelLayout& shape) {
  Rate rate;
  double seconds = 0;  // per sample on one GPU with an infinite micro-batch
  if (!anchors.empty()) {
    std::vector<Timing> timings;
    for (const Anchor& anchor : anchors) {
      timings.push_back(TimingByStandIn(training, basis, anchor, shape));
    }
    const StepSeconds here = StandIn(training, basis, *shape.gpu, kComparedBatch);
    const CarriedOver carried = CarryOver(timings, PlaceOf(shape, here));
    rate = Judged(anchors, carried, SigmaWith(carried, kSigmaOtherGpuNoShape));
    seconds = std::exp(carried.log_factor);
  } else if (basis.params > 0 && basis.tokens_per_sample > 0) {
    rate.sigma = kSigmaStandIn;
    rate.basis = "estimated from parameters and tokens, without a timing";
    seconds = StandIn(training, basis, *shape.gpu, kComparedBatch).total() *
              MicroBatchEfficiency(kComparedBatch) / static_cast<double>(kComparedBatch);
  } else {
    return BadInput(
        "the speed of this model is not known: add one timing, for example measured: [{gpu: "
        "rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}], or model.params and "
        "training.max_seq_length",
        "/measured");
  }
  rate.samples_per_second = SaturatedGpus(shape) / seconds;
  return rate;
}

}  // namespace

TimedPlace PlaceOf(const RunTimeBasis& basis, const TrainingSetup& setup,
                   const ParallelLayout& layout, const StepSeconds& counted) {
  const GpuDeviation of_gpu = basis.shape->media ? kSigmaOfMedia : kSigmaOfTexts;
  const bool links_known =
      layout.gpu->link == GpuLink::kNvlink || layout.interconnect.link_gb_per_s > 0;
  const bool offloaded = setup.offload != Offload::kNone;
  const double total = counted.total();
  const double stepping = offloaded ? 0 : counted.optimizer;
  const double beside = counted.compute + counted.traffic - counted.unpacking;
  const double host = HostSeconds(beside, beside + counted.launches + counted.loader);
  const double sent = counted.communication;
  TimedPlace place = PlaceOf(layout, counted);
  place.gpu_alone = (counted.unpacking + stepping) / total;
  place.parts = {{
      {beside / total + place.gpu_alone, basis.parts_assumed ? of_gpu.assumed : of_gpu.described},
      {host / total, kSigmaOfHost},
      {(offloaded ? 0 : sent) / total, links_known ? kSigmaOfKnownLinks : kSigmaOfPcie},
      {(offloaded ? sent + counted.optimizer : 0) / total, kSigmaOfOffload},
  }};
  return place;
}

double SigmaOf(const CarriedOver& carried) {
  return SigmaWith(carried, kUnlikeShare * carried.log_factor);
}

double ScalingEfficiency(GpuLink link, int64_t gpus_per_node, int64_t nodes) {
  double across = std::pow(kNodeDoublingEfficiency, std::log2(static_cast<double>(nodes)));
  return OnOneNode(link, gpus_per_node) * across;
}

Result<Rate> EstimateRate(const TrainingSpec& training, const RunTimeBasis& basis,
                          const ParallelLayout& shape, const GpuCatalogue& catalogue) {
  Result<std::vector<Anchor>> anchors = FindAnchors(basis, catalogue);
  if (!anchors) return tl::unexpected<Error>(anchors.error());
  Result<Rate> rate = basis.shape != nullptr
                          ? FromShape(training, basis, *anchors, shape, catalogue)
                          : WithoutShape(training, basis, *anchors, shape);
  if (rate && shape.nodes > 1 && shape.interconnect.network_gb_per_s <= 0) {
    rate->sigma += kSigmaUnknownNetwork;
  }
  return rate;
}

Work CountWork(const TrainingSpec& training, int64_t effective_batch_size) {
  constexpr double kMostSamples = 9e17;
  const auto batch = static_cast<double>(effective_batch_size);
  double samples = 0;
  if (training.max_steps) {
    samples = static_cast<double>(*training.max_steps) * batch;
  } else if (training.samples) {
    samples = static_cast<double>(*training.samples);
  } else {
    samples = std::ceil(*training.num_train_epochs * static_cast<double>(*training.num_samples));
  }
  samples = std::clamp(samples, 1.0, kMostSamples);
  Work work;
  work.samples = static_cast<int64_t>(samples);
  work.steps =
      training.max_steps ? *training.max_steps : static_cast<int64_t>(std::ceil(samples / batch));
  return work;
}

}  // namespace gpuadvise
