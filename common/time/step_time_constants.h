// Constants of the step time model (step_time_model.h) in one table: meaning, range and source.
//
// Some follow from a kernel's work. Those that shapes do not give are `fitted`: bench/accuracy fits
// them to published measurements with one source left out at a time, and publishes the error on
// that source (docs/models.md).
#pragma once

#include <span>

#include "common/memory/constant_info.h"

namespace gpuadvise {

struct StepTimeConstants {
  double product_share = 1.0;  // of the best products' rate, reached in training
  double wave_numbers =
      0.8e6;  // tokens × width at which the last wave of tiles doubles a product's time
  double bandwidth_knee_gb_per_s = 7500;  // where half of a fast memory's rate is reached
  double bandwidth_share = 0.85;          // of a memory's bandwidth
  double passes_over_written = 6.5;       // bytes moved per byte written by a layer
  double convolution_passes = 11;         // bytes moved per byte written by a convolution block
  double normalisation_bytes = 20;        // RMSNorm in fp32 and rotary positions, per hidden number
  double compiled_traffic = 0.7;          // factor with fused kernels
  double score_bytes = 28;                // moved per logit
  double adapter_bytes = 30;              // moved per input or output number of an adapted product
  double dropout_bytes = 5;               // additional per number with dropout before its adapter
  double alibi_share = 0.68;              // rate of fused attention with position biases
  double nf4_bytes = 8.4;                 // moved to unpack an NF4 weight, per use
  double gptq_bytes = 13;                 // … a GPTQ weight
  double int8_bytes = 7;                  // … an 8-bit weight
  double fp8_gain = 1.5;                  // rate of fp8 products over half precision
  double launch_seconds = 0.89e-3;        // one layer's forward pass
  double adapter_launches = 1.5;
  double checkpointed_launches = 1.3;  // hooks of each repeated block of a diffusion model
  double compiled_launches = 0.4;
  double fsdp_launch_seconds = 1.1e-3;  // additional per layer pass: FSDP's hooks
  double zero_launch_seconds = 10e-3;   // DeepSpeed's hooks on a layer's trained parameters
  double ddp_exposed = 0.72;            // share of gradient time not hidden by the backward pass
  double fsdp_exposed = 0.65;  // share of shard time; shards are prefetched one layer ahead
  double jitter = 0.015;       // share of a step per doubling: all wait for the slowest GPU
  double nvlink_share = 0.8;
  double pcie_gb_per_s = 12;
  double no_p2p_gb_per_s = 5;
  double host_gb_per_s = 12;       // PCIe, for offloaded data
  double host_step_gb_per_s = 20;  // host memory, per GPU in the optimizer step
  double old_software = 0.21;      // additional time with PyTorch and libraries of 2020
};

inline constexpr StepTimeConstants kStepTimeConstants;

using StepTimeConstant = ConstantInfo<StepTimeConstants>;

// All members of StepTimeConstants.
std::span<const StepTimeConstant> StepTimeConstantTable();

}  // namespace gpuadvise
