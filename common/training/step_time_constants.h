// The constants of the step time model (step_time_model.h), in one table: what each means, where
// it may lie, and what it rests on.
//
// Some follow from what a kernel does; those that no shape gives are `fitted`: bench/accuracy
// chooses them on published measurements, with one source left out at a time, and publishes the
// error on the source that had no part in it (docs/models.md).
#pragma once

#include <span>

#include "common/training/constant_info.h"

namespace gpuadvise {

struct StepTimeConstants {
  double product_share = 1.0;  // of what the best products reach: those of a training
  double wave_numbers =
      0.8e6;  // tokens × width at which the last wave of tiles costs a product as much again
  double bandwidth_knee_gb_per_s = 7500;  // at which half of a fast memory's rate is left
  double bandwidth_share = 0.85;          // of a memory's bandwidth
  double passes_over_written = 6.5;       // bytes moved for each byte that a layer writes
  double convolution_passes = 11;   // bytes moved for each byte that a convolution's block writes
  double normalisation_bytes = 20;  // RMSNorm in fp32 and rotary positions, of each h
  double compiled_traffic = 0.7;    // fused
  double score_bytes = 28;          // moved for a word's score
  double adapter_bytes = 30;  // moved for each number that goes in or out of an adapted product
  double dropout_bytes = 5;   // more for each with dropout before its adapter
  double alibi_share = 0.68;  // of fused attention's rate, where positions are added to scores
  double nf4_bytes = 8.4;     // moved to unpack an NF4 weight, each time it is used
  double gptq_bytes = 13;     // the same of a GPTQ weight
  double int8_bytes = 7;      // the same of an 8-bit weight
  double fp8_gain = 1.5;      // rate of products in fp8 over those in half precision
  double launch_seconds = 0.89e-3;  // of one layer's forward pass
  double adapter_launches = 1.5;
  double checkpointed_launches = 1.3;  // hooks of every block of a diffusion model that is repeated
  double compiled_launches = 0.4;
  double fsdp_launch_seconds = 1.1e-3;  // more for a layer's pass: FSDP's hooks
  double zero_launch_seconds = 10e-3;   // DeepSpeed's hooks on a layer's trained parameters
  double ddp_exposed = 0.72;   // of the gradients' time that the backward pass does not hide
  double fsdp_exposed = 0.65;  // of the shards' time, which are fetched a layer ahead
  double jitter = 0.015;       // of a step for each doubling: all wait for the slowest GPU
  double nvlink_share = 0.8;
  double pcie_gb_per_s = 12;
  double no_p2p_gb_per_s = 5;
  double host_gb_per_s = 12;       // PCIe, for what is offloaded
  double host_step_gb_per_s = 20;  // of host memory, for one GPU's share of the step
  double old_software = 0.21;      // longer: PyTorch and its libraries of 2020
};

inline constexpr StepTimeConstants kStepTimeConstants;

using StepTimeConstant = ConstantInfo<StepTimeConstants>;

// Every member of StepTimeConstants.
std::span<const StepTimeConstant> StepTimeConstantTable();

}  // namespace gpuadvise
