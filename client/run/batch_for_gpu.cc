#include "client/run/batch_for_gpu.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "common/plan/answer_fit.h"
#include "common/plan/stage_plan.h"

namespace gpuadvise::client {
namespace {

// Drivers report a few per cent less than the nominal memory.
constexpr double kReportedShare = 0.9;

// A card of this node: the catalogue's model, or a copy with less memory.
struct Card {
  const GpuModel* model = nullptr;
  std::optional<GpuModel> smaller;

  const GpuModel& gpu() const { return smaller ? *smaller : *model; }
};

Result<Card> IdentifyCard(const std::string& name, int64_t memory, const GpuCatalogue& catalogue) {
  Card card{CardNamed(name, memory, catalogue), {}};
  if (card.model == nullptr) {
    return Fail(ErrorCode::kNotFound, fmt::format("unknown GPU '{}'", name));
  }
  const auto sold = static_cast<double>(card.model->memory_bytes);
  if (memory > 0 && static_cast<double>(memory) < kReportedShare * sold) {
    card.smaller = *card.model;
    card.smaller->memory_gb *= static_cast<double>(memory) / sold;
    card.smaller->memory_bytes = memory;
  }
  return card;
}

Result<Card> SmallestCard(const GpusHere& here, const GpuCatalogue& catalogue) {
  if (here.names.empty()) return Fail(ErrorCode::kNotFound, "no GPU is visible");
  std::optional<Card> smallest;
  for (size_t i = 0; i < here.names.size(); ++i) {
    const int64_t memory = i < here.memory_bytes.size() ? here.memory_bytes[i] : 0;
    Result<Card> card = IdentifyCard(here.names[i], memory, catalogue);
    if (!card) return card;
    if (!smallest || card->gpu().memory_bytes < smallest->gpu().memory_bytes) {
      smallest = std::move(*card);
    }
  }
  return std::move(*smallest);
}

// The batch from `gpuadvise fit`, for a spec without known run time.
Result<Batch> FittedBatch(const TrainSpec& spec, const ModelPresets& presets,
                          const GpuCatalogue& catalogue, const GpuModel& gpu, int64_t gpus) {
  const Result<api::Fit> answer = AnswerFit({spec, presets, catalogue, {&gpu}, gpus, {}, false});
  if (!answer) return tl::unexpected<Error>(answer.error());
  const api::FitGpu& row = answer->stages.at(0).fit.gpus.at(0);
  if (row.figures && row.figures->accumulation) {
    return Batch{row.figures->micro_batch, *row.figures->accumulation};
  }
  return Fail(ErrorCode::kInfeasible,
              row.notes.empty() ? "not even one sample fits" : row.notes.front());
}

}  // namespace

const GpuModel* CardNamed(const std::string& name, int64_t memory, const GpuCatalogue& catalogue) {
  const GpuModel* nearest = catalogue.Resolve(name);
  if (nearest == nullptr || memory <= 0) return nearest;
  for (const GpuModel& model : catalogue.models()) {
    if (catalogue.Accepts(name, model) &&
        std::llabs(model.memory_bytes - memory) < std::llabs(nearest->memory_bytes - memory)) {
      nearest = &model;
    }
  }
  return nearest;
}

Result<Batch> BatchForGpus(const TrainSpec& spec, const ModelPresets& presets,
                           const GpuCatalogue& catalogue, const GpusHere& here) {
  if (spec.stages.size() != 1) {
    return BadInput("has several stages, but one command has one batch; use a file with one stage",
                    "/stages");
  }
  const Result<Card> card = SmallestCard(here, catalogue);
  if (!card) return tl::unexpected<Error>(card.error());
  const GpuModel& gpu = card->gpu();
  const auto visible = static_cast<int64_t>(here.names.size());
  // First the plan of `advise`, which uses measured batches.
  const Result<StagePlan> plan = PlanStage(
      spec.stages.front(),
      {gpu, visible, here.nodes, Interconnect{}, spec.output, catalogue, presets, visible});
  if (plan) return Batch{plan->batch.micro_batch, plan->batch.accumulation};
  Result<Batch> fitted = FittedBatch(spec, presets, catalogue, gpu, visible * here.nodes);
  if (fitted || fitted.error().code == ErrorCode::kBadInput) return fitted;
  return Fail(fitted.error().code, fmt::format("{} × {}: {}", visible * here.nodes,
                                               gpu.display_name, plan.error().message));
}

std::optional<Batch> SmallerBatch(const Batch& batch) {
  const int64_t product = batch.micro_batch * batch.accumulation;
  for (int64_t micro_batch = batch.micro_batch / 2; micro_batch >= 1; --micro_batch) {
    if (product % micro_batch == 0) return Batch{micro_batch, product / micro_batch};
  }
  return {};
}

std::string NextOfTheLadder() {
  return "the micro-batch is 1 already: try gradient_checkpointing, then half precision, 8-bit "
         "optimizer states, ZeRO-2 or 3, a smaller LoRA rank, shorter sequences, offload "
         "(gpuadvise fit FILE says what each saves)";
}

}  // namespace gpuadvise::client
