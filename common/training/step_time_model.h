// Seconds of one optimizer step, from shapes and from what a GPU is made of.
//
// Problem. A person who has never run this training wants its hours on six kinds of GPU. One
// utilisation for all does not do: the same code reaches 56 % of a 3090's peak and 17 % of an RTX
// 6000 Ada's, because half of what a GPU does in training is moving numbers, not multiplying.
// Idea. A roofline with five parts, each from shapes:
//   compute        operations of matrices (2 a parameter and token forward, 4 backward, 2 less
//                  where weights are frozen, 2 more where the forward pass is repeated) and of
//                  attention, over the dense rate that large matrices reach
//   traffic        what autograd keeps is written, read, read back and its gradient written and
//                  read; normalisation and positions besides; weights and scores of the vocabulary;
//                  over the memory's bandwidth
//   launches       a host thread starts every kernel: a layer costs it milliseconds, however small
//                  the batch is. GPU and host work at once, the slower decides
//   communication  gradients once a step (DDP), or weights twice and gradients once a micro-batch
//                  (ZeRO-3, FSDP), over the slowest link; a fifth hides behind the backward pass
//   optimizer      states, gradients, weights read and written once a step; host memory and PCIe
//                  where they are offloaded
// One number for each card, `efficiency` of config/gpus.yaml, says how much of that roofline it
// reaches: power limits and kernels. It is measured with BERT (lambdal/deeplearning-benchmark) and
// carries over to other models: A100 .83, H100 .82, 4090 1.09, 2080 Ti .79.
// The constants were chosen once, over all rows of bench/data/time_measurements.csv together;
// docs/models.md says how far it is from them, by source, and where it is wrong.
// Pure. Times are seconds, rates GB (10^9 bytes) a second.
#pragma once

#include <cstdint>

#include "common/gpu/gpu_catalogue.h"
#include "common/training/memory_model.h"
#include "common/training/model_shape.h"
#include "common/training/step_time_constants.h"

namespace gpuadvise {

// What a network is taken for that nobody described: 25 Gbit/s Ethernet.
inline constexpr double kAssumedNetworkGbPerS = 25.0 / 8;

// How a setup is spread over GPUs.
struct StepLayout {
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  int64_t accumulation = 1;
  Interconnect interconnect;
  double loader_seconds_per_sample = 0;  // of one worker; 0: the loader keeps up
  int64_t loader_workers = 1;            // of one GPU
};

// Seconds of one optimizer step; the parts add up to it.
struct StepSeconds {
  double compute = 0;
  double traffic = 0;
  double launches = 0;       // that the GPU waits for the host
  double communication = 0;  // that nothing hides
  double optimizer = 0;
  double loader = 0;  // that all wait for data

  double total() const { return compute + traffic + launches + communication + optimizer + loader; }
};

// REQUIRES: setup.gpus == shape.gpus_per_node * shape.nodes, all counts >= 1.
StepSeconds SecondsOfStep(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu,
                          const StepLayout& shape,
                          const StepTimeConstants& constants = kStepTimeConstants);

// Seconds below which no micro-batch can be: its products of matrices at the rate of the card's
// data sheet, and nothing else.
double RooflineSeconds(const ModelShape& model, const TrainingSetup& setup, const GpuModel& gpu);

// GB/s that one GPU sends to the others of its node when `gpus` of them do so at once: 80 % of
// NVLink; over PCIe what all-reduces were measured to get, shared from seven GPUs on.
double LinkRate(const GpuModel& gpu, int64_t gpus, const Interconnect& interconnect,
                const StepTimeConstants& constants = kStepTimeConstants);

// A plain transformer of about `parameters`, for models of which nobody has told the shape.
ModelShape GenericTransformer(double parameters);

}  // namespace gpuadvise
