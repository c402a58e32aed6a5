#include "common/advise.h"

#include <algorithm>

#include "common/tips.h"

namespace gpuadvise {
namespace {

// Whether `error` is the caller's to mend whatever the placement: such an error ends the question.
bool EndsTheQuestion(const Error& error) {
  return error.code == ErrorCode::kBadInput || error.code == ErrorCode::kNotFound;
}

void AddRejection(const Placement& placement, const std::string& reason,
                  std::vector<Rejection>& rejected) {
  rejected.push_back({placement.pool, placement.gpus_per_node, placement.nodes, {reason}});
}

// When every placement fell to the same key of the document, that key is what is wrong.
Result<void> SameCauseEverywhere(const std::vector<Error>& errors, const Placements& placements,
                                 const TrainSpec& spec) {
  if (errors.empty() || errors.size() != placements.possible.size()) return {};
  const Error& last = errors.back();
  if (last.pointer.empty()) return {};
  for (const Error& error : errors) {
    if (error.pointer != last.pointer) return {};
  }
  bool is_time = last.pointer == "/time";
  return BadInput(last.message, is_time ? "/spec/slurm/time"
                                        : "/spec" + spec.stages.front().pointer + "/training" + last.pointer);
}

// One entry per pool and shared reason keeps the list readable: the largest count speaks for all.
std::vector<Rejection> Merged(const std::vector<Rejection>& rejected) {
  std::vector<Rejection> merged;
  for (const Rejection& rejection : rejected) {
    auto same = std::find_if(merged.begin(), merged.end(), [&](const Rejection& other) {
      return other.pool == rejection.pool && other.gpus_per_node == rejection.gpus_per_node &&
             other.nodes == rejection.nodes;
    });
    if (same == merged.end()) {
      merged.push_back(rejection);
    } else {
      same->reasons.insert(same->reasons.end(), rejection.reasons.begin(), rejection.reasons.end());
    }
  }
  return merged;
}

}  // namespace

Result<Advice> Advise(const AdviceRequest& request, const ClusterView& view,
                      const Submitter& caller) {
  Advice advice;
  advice.pools = FindGpuPools(view.snapshot, view.gpus);
  Result<Placements> placements =
      FindPlacements(request.spec, request.constraints, view.snapshot, advice.pools,
                     view.gpus.catalogue(), caller);
  if (!placements) return tl::unexpected<Error>(placements.error());

  const Question question{request.spec, request.constraints, view.snapshot, view.queue,
                          view.gpus.catalogue(), view.models, caller};
  advice.rejected = std::move(placements->rejected);
  std::vector<Error> errors;
  for (const Placement& placement : placements->possible) {
    Strategy strategy;
    strategy.placement = placement;
    Result<void> done = FitAndEstimate(question, strategy);
    if (done) done = PredictStart(question, strategy);
    if (done) {
      advice.strategies.push_back(std::move(strategy));
      continue;
    }
    if (EndsTheQuestion(done.error())) return tl::unexpected<Error>(done.error());
    errors.push_back(done.error());
    AddRejection(placement, done.error().message, advice.rejected);
  }
  Result<void> cause = SameCauseEverywhere(errors, *placements, request.spec);
  if (!cause) return tl::unexpected<Error>(cause.error());

  Rank(advice.strategies, request.by);
  ExplainRanks(advice.strategies, request.by);
  advice.rejected = Merged(advice.rejected);
  advice.tips = TipsFor(request.spec, advice.strategies);
  return advice;
}

}  // namespace gpuadvise
