// Duration of a training on given GPUs: the step time model, corrected by measurements.
//
// If the model's shape is known, common/time/step_time_model computes the seconds of a step
// anywhere. One timing ("3.9 s a step on four 4090s") then gives the factor by which this training
// deviates (data loader, kernels), which carries over to other GPUs, GPU counts and batches, part
// by part. A timing on the same card, GPUs and batch is reproduced exactly; timings on other cards
// are weighted by similarity (common/time/carry_over.h).
//
// If the shape is unknown (memory line only), a plain transformer stands in to compare cards: of as
// many parameters where they are given, and with as many samples as take the measured time. Then
// the rate of one GPU is m / (m + 0.25) at a micro-batch of m, and data parallelism keeps a stated
// share. A fixed start-up is added: in Isaac-GR00T's team guide 100 steps take half an hour and
// 10,000 take 18–24 hours, which leaves 15–20 minutes before the first step.
//
// Uncertainty: run time is log-normal around p50. With a shape sigma follows from the parts of the
// step (PlaceOf): 0.16 where the GPU decides and all is described, more where the host or transfers
// do. 0.08 is added (as variances are) if timed on this card. Without a shape 0.30 if carried over,
// 0.40 from a stand-in. More if timings disagree, and 0.5 more over an undescribed network. Times
// are seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/memory/memory_model.h"
#include "common/models/model_shape.h"
#include "common/spec/train_spec.h"
#include "common/time/carry_over.h"
#include "common/time/step_time_model.h"

namespace gpuadvise {

inline constexpr double kStartUpSeconds = 15 * 60;

// Timings whose factors differ by more than this (0.2: 20 %) disagree.
inline constexpr double kDisagreement = 0.2;

// Speed per GPU that data parallelism keeps, 0..1, for `gpus_per_node` GPUs joined by `link` on
// `nodes` nodes. From single-node BERT-large runs (A40 .96/.94/.88, 3090 ×2 .86, 4090 ×2 .75, 2080
// Ti .80/.71/.53, A100/H100 SXM .95/.94/.94 at 2/4/8); a further 0.9 per doubling of nodes.
double ScalingEfficiency(GpuLink link, int64_t gpus_per_node, int64_t nodes);

// Basis of the run time: measured lines of the spec, or else of the preset; and the shape.
struct RunTimeBasis {
  std::vector<MeasuredStep> measured;
  double params = 0;                  // 0: unknown
  int64_t tokens_per_sample = 0;      // 0: unknown
  const ModelShape* shape = nullptr;  // nullptr: unknown
  TrainingSetup setup;                // as on the strategy's GPU; ignores gpus and micro_batch
  bool fp16_is_safe = true;
  bool parts_assumed = false;  // the description leaves something open (AssumptionsOf)
};

// The strategy in question.
struct ParallelLayout {
  const GpuModel* gpu = nullptr;
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
  Interconnect interconnect;
  int64_t node_gpus = 0;  // in a node of its kind; 0: unknown
};

struct Rate {
  double samples_per_second = 0;
  double most_samples_per_second = 0;  // upper bound from the card's compute rate; 0: unknown
  double sigma = 0;                    // of the log run time
  std::string basis;                   // for people: "timed on RTX 4090 × 4"
  StepSeconds step;                    // of one optimizer step, by part; all 0 without a shape
  std::string disagreement;            // between the timings used, for people; "" if they agree
};

// Where `counted` was counted, with the share of each part and how far it may deviate. REQUIRES:
// basis.shape.
TimedPlace PlaceOf(const RunTimeBasis& basis, const TrainingSetup& setup,
                   const ParallelLayout& layout, const StepSeconds& counted);

// Sigma of the log run time from timings of a training of known shape.
double SigmaOf(const CarriedOver& carried);

// Samples per second of `shape`. Errors: kBadInput if nothing indicates the speed of this model, or
// a measured line names an unknown GPU (pointer "/measured/0/gpu").
Result<Rate> EstimateRate(const TrainingSpec& training, const RunTimeBasis& basis,
                          const ParallelLayout& shape, const GpuCatalogue& catalogue);

// Optimizer steps and samples of `training` at an effective batch size.
struct Work {
  int64_t steps = 0;
  int64_t samples = 0;
};
Work CountWork(const TrainingSpec& training, int64_t effective_batch_size);

}  // namespace gpuadvise
