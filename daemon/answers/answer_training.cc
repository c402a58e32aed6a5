#include "daemon/answers/answer_training.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "common/base/json_fields.h"
#include "common/gpu/gpu_pool.h"
#include "common/plan/answer_fit.h"
#include "common/plan/answer_scale.h"
#include "common/runs/learned_runs.h"
#include "common/spec/train_spec.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

constexpr int64_t kMostGpus = 1024;
constexpr const char* kSpec = "/spec";

// What both questions have in common.
struct TrainingRequest {
  TrainSpec spec;
  int64_t gpus = 0;  // 0: not said
  std::optional<Objective> objective;
};

Result<TrainingRequest> Read(const json& body, const std::string& gpus_member, RunLength run_length,
                             const AdviceContext& view, const Submitter& caller) {
  DocumentErrors errors;
  FieldReader reader(body, "", &errors);
  const json* spec = reader.Any("spec");
  const auto gpus = reader.Int(gpus_member, 1, kMostGpus);
  const auto word = reader.Choice("objective", {"finish", "start", "cost", "deadline"});
  if (errors.failed()) return tl::unexpected<Error>(errors.AsResult().error());
  if (spec == nullptr) return BadInput("the request has no spec", kSpec);
  Result<TrainSpec> parsed = ParseTrainSpec(*spec, kSpec, run_length);
  if (!parsed) return tl::unexpected<Error>(std::move(parsed.error()));
  AddMeasurements(RunsAlike(body, view, caller), view.gpus.catalogue(), *parsed);
  return TrainingRequest{std::move(*parsed), gpus.value_or(0),
                         word ? ObjectiveFromWord(*word) : std::nullopt};
}

// One for each GPU type of the cluster that the catalogue knows.
std::vector<ScaledGpu> GpusOf(const AdviceContext& view) {
  std::vector<ScaledGpu> gpus;
  for (const GpuPool& pool : view.Pools()) {
    if (pool.model == nullptr || pool.gpus_per_node < 1) continue;
    const auto known = std::find_if(gpus.begin(), gpus.end(),
                                    [&](const ScaledGpu& gpu) { return gpu.model == pool.model; });
    if (known == gpus.end()) {
      gpus.push_back({pool.model, pool.gpus_per_node, pool.interconnect});
    } else {
      known->gpus_per_node = std::max(known->gpus_per_node, pool.gpus_per_node);
    }
  }
  return gpus;
}

// Errors of the model are told beside the spec alone.
tl::unexpected<Error> Placed(Error error) {
  if (!error.pointer.starts_with(kSpec)) error.pointer = kSpec + error.pointer;
  return tl::unexpected<Error>(std::move(error));
}

Error NoGpus() {
  return {ErrorCode::kInfeasible, "no node of this cluster has a GPU that the catalogue knows", ""};
}

Result<void> SetObjective(const TrainingRequest& request, UnixSeconds now,
                          ScaleQuestion& question) {
  question.objective = request.objective.value_or(request.spec.objective);
  if (question.objective == Objective::kStart) question.objective = Objective::kFinish;
  if (question.objective != Objective::kDeadline) return {};
  if (!request.spec.deadline) {
    return BadInput("the objective deadline needs a deadline", "/spec/deadline");
  }
  question.deadline_seconds = static_cast<double>(*request.spec.deadline - now);
  if (question.deadline_seconds > 0) return {};
  return BadInput("the deadline has passed: give a later one", "/spec/deadline");
}

}  // namespace

Result<json> AnswerFitHere(const json& request, const AdviceContext& view,
                           const Submitter& caller) {
  Result<TrainingRequest> asked = Read(request, "gpus_in_all", RunLength::kOptional, view, caller);
  if (!asked) return tl::unexpected<Error>(std::move(asked.error()));
  std::vector<const GpuModel*> gpus;
  for (const ScaledGpu& gpu : GpusOf(view)) gpus.push_back(gpu.model);
  if (gpus.empty()) return tl::unexpected<Error>(NoGpus());
  const FitQuestion question{.spec = asked->spec,
                             .presets = view.models,
                             .catalogue = view.gpus.catalogue(),
                             .gpus = gpus,
                             .gpus_in_all = std::max<int64_t>(asked->gpus, 1),
                             .micro_batch = std::nullopt,
                             .budget = view.budget};
  Result<api::Fit> answer = AnswerFit(question);
  if (!answer) return Placed(std::move(answer.error()));
  return ToJson(*answer);
}

Result<json> AnswerScaleHere(const json& request, const AdviceContext& view,
                             const Submitter& caller) {
  Result<TrainingRequest> asked = Read(request, "most_gpus", RunLength::kRequired, view, caller);
  if (!asked) return tl::unexpected<Error>(std::move(asked.error()));
  const std::vector<ScaledGpu> gpus = GpusOf(view);
  if (gpus.empty()) return tl::unexpected<Error>(NoGpus());
  ScaleQuestion question{asked->spec, view.models, view.gpus.catalogue()};
  question.budget = view.budget;
  if (asked->gpus > 0) question.most_gpus = asked->gpus;
  const Result<void> objective = SetObjective(*asked, view.snapshot.taken_at, question);
  if (!objective) return tl::unexpected<Error>(objective.error());
  Result<api::Scale> answer = AnswerScale(question, gpus, DetailedGpu::kBest);
  if (!answer) return Placed(std::move(answer.error()));
  return ToJson(*answer);
}

Result<json> AnswerMeasured(const json& request, const AdviceContext& view,
                            const Submitter& caller) {
  const Result<TrainingRequest> asked = Read(request, "", RunLength::kOptional, view, caller);
  if (!asked) return tl::unexpected<Error>(asked.error());
  return ToJson(MeasuredRunsOf(RunsAlike(request, view, caller)));
}

}  // namespace gpuadvise::daemon
