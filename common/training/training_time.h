// How long a training run takes on some GPUs: what the model of a step says, corrected by what was
// measured.
//
// Where the model's shape is known, common/training/step_time_model counts the seconds of a step
// anywhere. One timing ("3.9 s a step on four 4090s") then says by which factor this training is
// slower or faster than counted (its loader, its kernels), and that factor carries over to every
// other GPU, number of GPUs and batch. A timing on a card is what that card shows: with the same
// GPUs and batch it is given back as it is. Of timings on other cards each counts by its likeness
// (common/training/carry_over.h). Where nobody has told the shape (a memory line alone), a plain
// transformer of as many parameters stands in to compare cards, one GPU's rate is taken as m / (m +
// 0.25) at a micro-batch of m, and data parallelism keeps a stated share. A fixed start-up is
// added: 100 steps of Isaac-GR00T's team guide take half an hour where 10,000 take 18–24 hours,
// which leaves 15–20 minutes before the first step. Doubt: run time is log-normal around p50. sigma
// is what bench/accuracy leaves: 0.08 when timed on this card, 0.15 when carried over to another by
// the shape and 0.25 without it, 0.25 when counted from the shape alone, 0.40 from a stand-in; more
// where timings disagree, and over a network that nobody described 0.5 more. Times are seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/training/memory_model.h"
#include "common/training/model_shape.h"
#include "common/training/step_time_model.h"
#include "common/training/train_spec.h"

namespace gpuadvise {

inline constexpr double kStartUpSeconds = 15 * 60;

// Sigma of the logarithm of a run time that is counted from the model's shape without a timing.
inline constexpr double kSigmaCounted = 0.16;

// Timings whose factors are this much apart (0.2: 20 %) are said to disagree.
inline constexpr double kDisagreement = 0.2;

// Speed kept per GPU by data parallelism, 0..1: `gpus_per_node` GPUs joined by `link` on `nodes`
// nodes. Stated, from single-node BERT-large runs (A40 .96/.94/.88, 3090 ×2 .86, 4090 ×2 .75,
// 2080 Ti .80/.71/.53, A100/H100 SXM .95/.94/.94 at 2/4/8); 0.9 more for every doubling of nodes.
double ScalingEfficiency(GpuLink link, int64_t gpus_per_node, int64_t nodes);

// What the run is timed by: the spec's own measured lines, else the preset's; the shape.
struct RunTimeBasis {
  std::vector<MeasuredStep> measured;
  double params = 0;                  // 0 unknown
  int64_t tokens_per_sample = 0;      // 0 unknown
  const ModelShape* shape = nullptr;  // nullptr: nobody has told it
  TrainingSetup setup;                // as on the strategy's GPU; gpus and micro_batch do not count
  bool fp16_is_safe = true;
};

// The strategy whose run time is asked.
struct ParallelLayout {
  const GpuModel* gpu = nullptr;
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
  Interconnect interconnect;
  int64_t node_gpus = 0;  // that a node of its kind has; 0 unknown
};

struct Rate {
  double samples_per_second = 0;
  double most_samples_per_second = 0;  // that the card can multiply; 0: not known
  double sigma = 0;                    // of the logarithm of the run time
  std::string basis;                   // in words: "timed on RTX 4090 × 4"
  StepSeconds step;                    // of one optimizer step, by part; all 0 without a shape
  std::string disagreement;            // of the timings it rests on, in words; "" where they agree
};

// Samples per second of `shape`. Errors: kBadInput when nothing says how fast this model trains,
// or a measured line names a GPU that the catalogue does not have (pointer "/measured/0/gpu").
Result<Rate> EstimateRate(const TrainingSpec& training, const RunTimeBasis& basis,
                          const ParallelLayout& shape, const GpuCatalogue& catalogue);

// Optimizer steps and samples of `training` at an effective batch size.
struct Work {
  int64_t steps = 0;
  int64_t samples = 0;
};
Work WorkOf(const TrainingSpec& training, int64_t effective_batch_size);

}  // namespace gpuadvise
