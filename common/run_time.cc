#include "common/run_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/batch_fit.h"

namespace gpuadvise {
namespace {

constexpr double kLaunchSamples = 0.25;
constexpr double kSigmaSameGpu = 0.08;
constexpr double kSigmaOtherGpu = 0.25;
constexpr double kSigmaNoTiming = 0.40;
constexpr double kNodeDoublingEfficiency = 0.9;

// Efficiency at 1, 2, 4 and 8 GPUs of a node.
std::array<double, 4> EfficiencyTable(GpuLink link) {
  switch (link) {
    case GpuLink::kNone:
      return {1, 0, 0, 0};
    case GpuLink::kPcieNoP2p:
      return {1, .75, .71, .53};
    case GpuLink::kPcie:
    case GpuLink::kNvlinkPairs:
      return {1, .93, .89, .80};
    case GpuLink::kNvlink:
      return {1, .95, .94, .94};
  }
  return {1, .75, .71, .53};
}

double OnOneNode(GpuLink link, int64_t gpus) {
  const std::array<double, 4> table = EfficiencyTable(link);
  double place = std::clamp(std::log2(static_cast<double>(gpus)), 0.0, 3.0);
  auto below = static_cast<size_t>(place);
  size_t above = std::min<size_t>(below + 1, 3);
  return table[below] + (table[above] - table[below]) * (place - static_cast<double>(below));
}

double MicroBatchEfficiency(int64_t micro_batch) {
  auto m = static_cast<double>(micro_batch);
  return m / (m + kLaunchSamples);
}

// The samples of one measured optimizer step: as stated, else the spec's own plan at that batch.
double SamplesOfStep(const TrainingSpec& training, const MeasuredStep& step) {
  if (step.effective_batch_size > 0) return static_cast<double>(step.effective_batch_size);
  TrainingSpec at_batch = training;
  at_batch.micro_batch = step.micro_batch;
  Result<BatchPlan> plan = PlanBatch(at_batch, step.gpus, step.micro_batch);
  return plan ? static_cast<double>(plan->effective)
              : static_cast<double>(step.micro_batch * step.gpus);
}

// What one GPU of the measured kind does with an endless micro-batch, in samples per second.
double SaturatedRate(const TrainingSpec& training, const MeasuredStep& step, const GpuModel& gpu) {
  double gpus = static_cast<double>(step.gpus) * ScalingEfficiency(gpu.link, step.gpus, 1);
  return SamplesOfStep(training, step) / step.seconds_per_step / gpus /
         MicroBatchEfficiency(step.micro_batch);
}

struct Anchor {
  const MeasuredStep* step;
  const GpuModel* gpu;
};

Result<std::vector<Anchor>> FindAnchors(const RunTimeBasis& basis, const GpuCatalogue& catalogue) {
  std::vector<Anchor> anchors;
  for (size_t i = 0; i < basis.measured.size(); ++i) {
    const MeasuredStep& step = basis.measured[i];
    const GpuModel* gpu = catalogue.Resolve(step.gpu);
    if (step.seconds_per_step <= 0) continue;  // a peak alone
    if (gpu == nullptr) {
      return BadInput(fmt::format("measured: no GPU called '{}' is known; use a name of the "
                                  "catalogue such as rtx4090, l40s or a100-80gb",
                                  step.gpu),
                      fmt::format("/measured/{}/gpu", i));
    }
    if (step.gpus > 1 && ScalingEfficiency(gpu->link, step.gpus, 1) <= 0) {
      return BadInput(fmt::format("measured: {} cannot train on {} together, a MIG slice has no "
                                  "peer-to-peer",
                                  gpu->display_name, step.gpus),
                      fmt::format("/measured/{}/gpus", i));
    }
    anchors.push_back({&step, gpu});
  }
  return anchors;
}

// The timing on this very card with the closest number of GPUs, or nullptr.
const Anchor* SameCard(const std::vector<Anchor>& anchors, const RunShape& shape) {
  const Anchor* best = nullptr;
  auto distance = [&](const Anchor& a) {
    return std::abs(a.step->gpus - shape.gpus_per_node * shape.nodes);
  };
  for (const Anchor& anchor : anchors) {
    if (anchor.gpu != shape.gpu) continue;
    if (best == nullptr || distance(anchor) < distance(*best)) best = &anchor;
  }
  return best;
}

std::string TimedOn(const Anchor& anchor) {
  return fmt::format("{} × {}", anchor.gpu->display_name, anchor.step->gpus);
}

Rate CarriedOver(const TrainingSpec& training, const std::vector<Anchor>& anchors,
                 const GpuModel& gpu) {
  double log_sum = 0;
  for (const Anchor& anchor : anchors) {
    double ratio = gpu.achieved_tflops() / anchor.gpu->achieved_tflops();
    log_sum += std::log(SaturatedRate(training, *anchor.step, *anchor.gpu) * ratio);
  }
  std::string from = TimedOn(anchors.front());
  if (anchors.size() > 1) from += fmt::format(" and {} more", anchors.size() - 1);
  return {std::exp(log_sum / static_cast<double>(anchors.size())), kSigmaOtherGpu,
          "carried over from " + from};
}

Rate FromOperations(const RunTimeBasis& basis, const GpuModel& gpu) {
  double operations = 6 * basis.params * static_cast<double>(basis.tokens_per_sample);
  return {gpu.achieved_tflops() * 1e12 / operations, kSigmaNoTiming,
          "estimated from 6 × parameters × tokens, without a timing"};
}

}  // namespace

double ScalingEfficiency(GpuLink link, int64_t gpus_per_node, int64_t nodes) {
  double across = std::pow(kNodeDoublingEfficiency, std::log2(static_cast<double>(nodes)));
  return OnOneNode(link, gpus_per_node) * across;
}

Result<Rate> EstimateRate(const TrainingSpec& training, const RunTimeBasis& basis,
                          const RunShape& shape, const GpuCatalogue& catalogue) {
  Result<std::vector<Anchor>> anchors = FindAnchors(basis, catalogue);
  if (!anchors) return tl::unexpected<Error>(anchors.error());
  Rate rate;
  if (const Anchor* same = SameCard(*anchors, shape)) {
    rate = {SaturatedRate(training, *same->step, *same->gpu), kSigmaSameGpu,
            "timed on " + TimedOn(*same)};
  } else if (!anchors->empty()) {
    rate = CarriedOver(training, *anchors, *shape.gpu);
  } else if (basis.params > 0 && basis.tokens_per_sample > 0) {
    rate = FromOperations(basis, *shape.gpu);
  } else {
    return BadInput(
        "nothing says how fast this model trains: add one timing, for example "
        "measured: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}], or "
        "model.params and training.max_seq_length",
        "/measured");
  }
  auto gpus = static_cast<double>(shape.gpus_per_node * shape.nodes);
  rate.samples_per_second *= gpus * MicroBatchEfficiency(shape.micro_batch) *
                             ScalingEfficiency(shape.gpu->link, shape.gpus_per_node, shape.nodes);
  if (shape.nodes > 1) rate.sigma = std::max(rate.sigma, kSigmaOtherGpu);
  return rate;
}

Work WorkOf(const TrainingSpec& training, int64_t effective_batch_size) {
  Work work;
  if (training.max_steps) {
    work.steps = *training.max_steps;
    work.samples = work.steps * effective_batch_size;
    return work;
  }
  double samples = training.samples
                       ? static_cast<double>(*training.samples)
                       : *training.num_train_epochs * static_cast<double>(*training.num_samples);
  work.steps = static_cast<int64_t>(
      std::ceil(std::min(samples, 9e17) / static_cast<double>(effective_batch_size)));
  work.samples = static_cast<int64_t>(std::min(samples, 9e17));
  return work;
}

}  // namespace gpuadvise
