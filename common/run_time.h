// How long a training run takes on some GPUs, from what was measured on others.
//
// Problem: a person knows one timing ("3.9 s a step on four 4090s"), and asks about six L40S.
// Idea: one GPU's samples per second is a rate that carries over between cards in proportion to the
// tensor rate they achieve in training (dense peak × measured efficiency, config/gpus.yaml):
//     samples/s = GPUs × scaling(link, GPUs, nodes) × rate × m / (m + 0.25)
// where m is the micro-batch (the quarter sample stands for launch overhead at small batches) and
// scaling is the stated efficiency of data parallelism. A timing on the same card calibrates it
// directly; several on other cards by their geometric mean; with none, 6 × parameters × tokens
// operations a sample against the achieved rate (Kaplan et al. 2020, eq. 2.2).
// A fixed start-up is added: S0's 100 steps take half an hour where 10,000 take 18–24 hours, which
// leaves 15–20 minutes before the first step.
// Doubt: run time is log-normal around p50; sigma is 0.08 when timed on this card, 0.25 when
// carried over from another (cards differ by more than their peaks: 17–56 % of it), 0.40 without
// timings. Not the published TFLOPS: S0's own hours do not follow from its table (660 : 1099 :
// 107). Where it is wrong: bandwidth, loaders and gradient traffic are inside the two constants.
// Times are seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/gpu_catalogue.h"
#include "common/train_spec.h"

namespace gpuadvise {

inline constexpr double kStartUpSeconds = 15 * 60;

/// Speed kept per GPU by data parallelism, 0..1: `gpus_per_node` GPUs joined by `link` on `nodes`
/// nodes. Stated, from single-node BERT-large runs (A40 .96/.94/.88, 3090 ×2 .86, 4090 ×2 .75,
/// 2080 Ti .80/.71/.53, A100/H100 SXM .95/.94/.94 at 2/4/8); 0.9 more for every doubling of nodes.
double ScalingEfficiency(GpuLink link, int64_t gpus_per_node, int64_t nodes);

/// What the run is timed by: the spec's own measured lines, else the preset's.
struct RunTimeBasis {
  std::vector<MeasuredStep> measured;
  double params = 0;              // 0 unknown
  int64_t tokens_per_sample = 0;  // 0 unknown
};

/// The strategy whose run time is asked.
struct RunShape {
  const GpuModel* gpu = nullptr;
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  int64_t micro_batch = 1;
};

struct Rate {
  double samples_per_second = 0;
  double sigma = 0;   // of the logarithm of the run time
  std::string basis;  // in words: "timed on RTX 4090 × 4"
};

/// Samples per second of `shape`. Errors: kBadInput when nothing says how fast this model trains,
/// or a measured line names a GPU that the catalogue does not have (pointer "/measured/0/gpu").
Result<Rate> EstimateRate(const TrainingSpec& training, const RunTimeBasis& basis,
                          const RunShape& shape, const GpuCatalogue& catalogue);

/// Optimizer steps and samples of `training` at an effective batch size.
struct Work {
  int64_t steps = 0;
  int64_t samples = 0;
};
Work WorkOf(const TrainingSpec& training, int64_t effective_batch_size);

}  // namespace gpuadvise
