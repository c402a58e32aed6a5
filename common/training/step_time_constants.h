// The constants of the step time model (step_time_model.h), in one table: what each means, where
// it may lie, and what it rests on.
//
// Some follow from what a kernel does; those that no shape gives are `fitted`: bench/accuracy
// chooses them on published measurements, with one source left out at a time, and publishes the
// error on the source that had no part in it (docs/models.md).
#pragma once

#include <span>

namespace gpuadvise {

struct StepTimeConstants {
  double product_share = 0.9;         // of what the best products reach: those of a training
  double bandwidth_share = 0.7;       // of a memory's bandwidth
  double passes_over_kept = 6.8;      // bytes moved for each byte that autograd keeps
  double normalisation_bytes = 12.5;  // RMSNorm in fp32 and rotary positions, of each h
  double compiled_traffic = 0.7;      // fused
  double score_bytes = 28;            // moved for a word's score
  double nf4_bytes = 7;               // moved to unpack an NF4 weight, each time it is used
  double gptq_bytes = 18;             // the same of a GPTQ weight
  double int8_bytes = 7;              // the same of an 8-bit weight
  double fp8_gain = 1.5;              // rate of products in fp8 over those in half precision
  double launch_seconds = 0.9e-3;     // of one layer's forward pass
  double adapter_launches = 1.5;
  double compiled_launches = 0.4;
  double zero_launch_seconds = 11.5e-3;  // DeepSpeed's hooks on a layer's trained parameters
  double ddp_exposed = 0.8;   // of the gradients' time that the backward pass does not hide
  double fsdp_exposed = 0.3;  // of the shards' time, which are fetched a layer ahead
  double jitter = 0.015;      // of a step for each doubling: all wait for the slowest GPU
  double nvlink_share = 0.8;
  double pcie_gb_per_s = 11;
  double no_p2p_gb_per_s = 4.3;
  double host_gb_per_s = 12;       // PCIe, for what is offloaded
  double host_step_gb_per_s = 20;  // of host memory, for one GPU's share of the step
  double old_software = 0.19;      // longer: PyTorch and its libraries of 2020
};

inline constexpr StepTimeConstants kStepTimeConstants;

struct StepTimeConstant {
  const char* name;
  double StepTimeConstants::*member;
  double low;  // between which it can lie
  double high;
  bool fitted;  // to measurements; else from `rests_on`
  const char* rests_on;
};

// Every member of StepTimeConstants.
std::span<const StepTimeConstant> StepTimeConstantTable();

}  // namespace gpuadvise
