// Measurements of a training as text for train.yaml: lines of `measured:` and of `memory:`.
//
// Memory of one process is linear in the micro-batch, so two peaks give the slope per sample and
// the base. Pure. Sizes are bytes; 1 GB = 10^9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/gpu/gpu_catalogue.h"
#include "common/models/model_presets.h"
#include "common/runs/outcome.h"

namespace gpuadvise::client {

// "8.4 GB", "850 MB": four significant digits.
std::string SizeText(int64_t bytes);
// "{gpu: l40s, gpus: 1, batch: 4, seconds_per_step: 1.21, peak: 12.3 GB}"; unknown members are
// omitted.
std::string MeasuredText(const MeasuredStep& step);
// "{base: 6.1 GB, per_sample: 1.2 GB}".
std::string MemoryText(const MemoryLine& line);

// The highest peak among the GPUs of an attempt; 0: unknown.
int64_t PeakOf(const Attempt& attempt);

// The results of a probe on one GPU.
struct ProbeFindings {
  std::optional<MeasuredStep> measured;  // largest batch that ran
  std::optional<MemoryLine> memory;
  std::vector<std::string> notes;  // the attempts, and why a result is missing
};

// `gpu`: the card of all attempts (nullptr: unknown). Each attempt has an accumulation of 1.
ProbeFindings FindingsOf(const std::vector<Attempt>& attempts, const GpuModel* gpu);

// The closing message of `gpuadvise run`: YAML lines for train.yaml from its `last` attempt, on
// `gpus` cards `gpu` (nullptr: unknown) in total. "": no steps seen.
std::string SummaryOf(const Attempt& last, const GpuModel* gpu, int64_t gpus);

}  // namespace gpuadvise::client
