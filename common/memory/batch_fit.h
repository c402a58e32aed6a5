// The largest micro-batch per GPU, and how the effective batch is kept.
//
// Problem: a strategy on 4 × 24 GB and one on 15 × 11 GB must train the same thing, so
//      effective batch = micro-batch × GPUs × accumulation
// has to be in the requested range for each, with a micro-batch that fits the card.
//
// Idea: memory is linear in the micro-batch (Isaac-GR00T's team guide: "weights 5 GB + 1.2 GB per
// sample + 2 GB overhead"), so the largest micro-batch is one division. A larger micro-batch is
// never slower per sample. So the best plan has the largest micro-batch with a product in the
// range, and the least accumulation. Margins (share of memory left free): aggressive 0, recommended
// 20 %, conservative 40 %. With them the formula gives the guide's own 6 / 10 / 14 on 24 GB.
//
// Limits: memory is not quite linear, and the guide's table allows 4–5 on 11 GB where the formula
// gives 1 / 3 (recommended / bound). A card counts with its nominal GB (10^9), as in the formula;
// its true size is 7 % larger.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "common/spec/train_spec.h"

namespace gpuadvise {

// Left free where memory is a line. What is counted from a shape has SafetyMargin (memory_range.h).
inline constexpr double kRecommendedMargin = 0.20;

// Largest micro-batch that fits `gpu` with a share `margin` (0..1) of memory left free; 0 if no
// sample fits. At most kMaxMicroBatch.
int64_t LargestMicroBatch(const MemoryLine& line, const GpuModel& gpu, double margin);

// Largest micro-batch up to `most` that takes no more memory than one sample: where the optimizer's
// step is the peak, further samples are free. `bytes`: of a micro-batch, not falling. REQUIRES:
// most >= 1.
int64_t LargestAtPeakOfOne(int64_t most, const std::function<double(int64_t)>& bytes);
inline constexpr int64_t kMaxMicroBatch = 1'000'000;

// Bytes for `micro_batch` samples.
int64_t MemoryOf(const MemoryLine& line, int64_t micro_batch);

struct BatchPlan {
  int64_t micro_batch = 1;
  int64_t accumulation = 1;
  int64_t effective = 1;  // micro_batch × GPUs × accumulation
};

// The plan for `gpus` GPUs in total with at most `largest` samples each. Keeps what `training`
// fixes (micro-batch, accumulation, range). Errors: kInfeasible with the nearest possible batch
// sizes. REQUIRES: gpus >= 1, largest >= 1.
Result<BatchPlan> PlanBatch(const TrainingSpec& training, int64_t gpus, int64_t largest);

}  // namespace gpuadvise
