// Time of one optimizer step, from shapes and GPU properties.
//
// Problem. A user who has never run this training wants its hours on six kinds of GPU. One
// utilisation for all fails: the same code reaches 56 % of a 3090's peak and 17 % of an RTX 6000
// Ada's, because half of the work in training is moving data, not multiplying.
// Idea. A roofline with five parts, each from shapes:
//    compute        matrix operations (2 per parameter and token forward, 4 backward, 2 less if
//                   weights are frozen, 2 more if the forward pass is repeated) and attention, over
//                   the dense rate that large matrices reach
//    traffic        kept activations are written, read, read again, and their gradients written and
//                   read; plus normalisation and positions, weights and logits; over memory
//                   bandwidth
//    launches       a host thread starts every kernel: a layer costs it milliseconds whatever the
//                   batch size. GPU and host work in parallel; the slower one decides
//    communication  gradients once per step (DDP), or weights twice and gradients once per
//                   micro-batch (ZeRO-3, FSDP), over the slowest link; a fifth is hidden by the
//                   backward pass
//    optimizer      states, gradients and weights read and written once per step; over host memory
//                   and PCIe if offloaded
// One number per card, `efficiency` in config/gpus.yaml, is the share of this roofline that it
// reaches (power limits, kernels). It is measured with BERT (lambdal/deeplearning-benchmark) and
// carries over to other models: A100 .83, H100 .82, 4090 1.09, 2080 Ti .79. The constants were
// fitted once to all rows of bench/data/time_measurements.csv; docs/models.md gives the errors by
// source and the limits. Pure. Times are seconds, rates GB (10^9 bytes) per second.
#pragma once

#include <cstdint>

#include "common/gpu/gpu_catalogue.h"
#include "common/memory/memory_model.h"
#include "common/models/model_shape.h"
#include "common/time/step_time_constants.h"

namespace gpuadvise {

// Assumed for an undescribed network: 25 Gbit/s Ethernet.
inline constexpr double kAssumedNetworkGbPerS = 25.0 / 8;

// Distribution of a setup over GPUs.
struct StepLayout {
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  int64_t accumulation = 1;
  Interconnect interconnect;
  double loader_seconds_per_sample = 0;  // per worker; 0: the loader keeps up
  int64_t loader_workers = 1;            // per GPU
};

// Seconds of one optimizer step, by part.
struct StepSeconds {
  double compute = 0;
  double traffic = 0;
  double launches = 0;       // GPU waiting for the host
  double communication = 0;  // not hidden by computing
  double optimizer = 0;
  double loader = 0;     // waiting for data
  double unpacking = 0;  // of traffic: 4-bit weights, one kernel after the other

  double total() const { return compute + traffic + launches + communication + optimizer + loader; }
};

// REQUIRES: setup.gpus == shape.gpus_per_node * shape.nodes, all counts >= 1.
StepSeconds ComputeStepSeconds(const ModelShape& model, const TrainingSetup& setup,
                               const GpuModel& gpu, const StepLayout& shape,
                               const StepTimeConstants& constants = kStepTimeConstants);

// Seconds of GPU work and of its host's, which run in parallel: the slower decides.
double InParallel(double gpu, double host);

// The host's seconds where both take `together`. REQUIRES: together >= gpu.
double HostSeconds(double gpu, double together);

// Lower bound for a micro-batch: its matrix products at the card's nominal rate.
double RooflineSeconds(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu);

// GB/s that one GPU sends to others of its node when `gpus` of them do so at once: 80 % of NVLink;
// over PCIe measured all-reduce rates, shared from seven GPUs on.
double LinkRate(const GpuModel& gpu, int64_t gpus, const Interconnect& interconnect,
                const StepTimeConstants& constants = kStepTimeConstants);

// A plain transformer of about `parameters`, for models of unknown shape.
ModelShape GenericTransformer(double parameters);

}  // namespace gpuadvise
