#include "common/advise/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/advise/strategy_tips.h"
#include "common/base/words.h"
#include "common/plan/ways_to_fit.h"
#include "common/slurm/access.h"

namespace gpuadvise {
namespace {

void AddRejection(const Placement& placement, const std::string& reason,
                  std::vector<Rejection>& rejected) {
  rejected.push_back({placement.pool, placement.gpus_per_node, placement.nodes, {reason}});
}

// When every placement fell to the same key of the document, that key is what is wrong.
Result<void> SameCauseEverywhere(const std::vector<Error>& errors, const Placements& placements,
                                 const AdviceRequest& request) {
  if (errors.empty() || errors.size() != placements.possible.size()) return {};
  const Error& last = errors.back();
  if (last.pointer.empty()) return {};
  for (const Error& error : errors) {
    if (error.pointer != last.pointer) return {};
  }
  if (last.pointer != "/time") {
    return BadInput(last.message,
                    "/spec" + request.spec.stages.front().pointer + "/training" + last.pointer);
  }
  bool from_spec = request.constraints.time_limit_seconds == request.spec.slurm.time_limit_seconds;
  return BadInput(last.message, from_spec ? "/spec/slurm/time" : "/constraints/time_limit_seconds");
}

// "× 3: would take …"; the pool's largest shape needs no prefix.
std::string ReasonOf(const Rejection& rejection, const Rejection& largest) {
  const std::string& reason = rejection.reasons.front();
  if (rejection.gpus_per_node == largest.gpus_per_node && rejection.nodes == largest.nodes)
    return reason;
  if (rejection.nodes > 1) {
    return fmt::format("× {} on {} nodes: {}", rejection.gpus_per_node, rejection.nodes, reason);
  }
  return fmt::format("× {}: {}", rejection.gpus_per_node, reason);
}

// What a reason says before its first figure: "would take ", "its nodes have ".
std::string BeforeFigures(const std::string& reason) {
  return reason.substr(0, reason.find_first_of("0123456789"));
}

// GPUs that cannot be used in any number get one entry, in which the largest shape speaks first.
std::vector<Rejection> Merged(std::vector<Rejection> rejected,
                              const std::vector<Strategy>& possible) {
  constexpr size_t kMostReasons = 3;
  std::stable_sort(rejected.begin(), rejected.end(), [](const Rejection& a, const Rejection& b) {
    return a.gpus_per_node > b.gpus_per_node;
  });
  std::vector<Rejection> merged;
  for (const Rejection& rejection : rejected) {
    auto is_same_pool = [&](const auto& other) { return other.pool == rejection.pool; };
    bool partly = std::any_of(possible.begin(), possible.end(), [&](const Strategy& strategy) {
      return strategy.placement.pool == rejection.pool;
    });
    auto largest = std::find_if(merged.begin(), merged.end(), is_same_pool);
    if (partly || largest == merged.end()) {
      merged.push_back(rejection);
      continue;
    }
    // A smaller shape that falls to the same cause with other figures adds nothing.
    bool is_news = std::none_of(
        largest->reasons.begin(), largest->reasons.end(), [&](const std::string& told) {
          return BeforeFigures(told) == BeforeFigures(rejection.reasons.front());
        });
    if (is_news && largest->reasons.size() < kMostReasons) {
      largest->reasons.push_back(ReasonOf(rejection, *largest));
    }
  }
  return merged;
}

// GPUs that are too small for one sample say so first: no other request helps there.
void SayWhatDoesNotFit(const TrainSpec& spec, const AdviceContext& context,
                       std::vector<Rejection>& rejected) {
  for (Rejection& rejection : rejected) {
    if (rejection.pool->model == nullptr || rejection.gpus_per_node < 1) continue;
    Placement there;
    there.pool = rejection.pool;
    there.gpus_per_node = there.pool->model->is_mig_slice ? 1 : rejection.gpus_per_node;
    there.nodes = rejection.nodes;
    const Result<RunPlan> run = PlanRun(spec, QuestionOn(there, spec, context));
    if (run || IsFatalForAll(run.error())) continue;
    if (rejection.reasons.front() == run.error().message) continue;
    rejection.reasons.insert(rejection.reasons.begin(), run.error().message);
  }
}

// Says at the top of row 1 that other GPUs are there, and which wish of the caller leaves them out.
void SayWhatLeavesOneGpu(const AdviceRequest& request, Advice& advice) {
  const auto other = [&](const GpuPool* pool) {
    return pool->model != nullptr && pool->model != advice.strategies.front().placement.pool->model;
  };
  if (advice.strategies.empty() || request.constraints.nodelist.empty()) return;
  for (const Strategy& strategy : advice.strategies) {
    if (other(strategy.placement.pool)) return;
  }
  if (std::none_of(advice.pools.begin(), advice.pools.end(),
                   [&](const GpuPool& pool) { return other(&pool); })) {
    return;
  }
  Strategy& first = advice.strategies.front();
  first.reasons.insert(
      first.reasons.begin(),
      fmt::format("nodelist {} leaves only {}: without it other GPUs are compared",
                  request.constraints.nodelist, first.placement.pool->model->display_name));
}

// For a job that fits nowhere.
std::vector<std::string> WaysFor(const TrainSpec& spec, const AdviceContext& context,
                                 const std::vector<Rejection>& rejected) {
  std::vector<GpusOfOneJob> places;
  for (const Rejection& rejection : rejected) {
    const GpuModel* gpu = rejection.pool->model;
    const int64_t count = rejection.gpus_per_node * rejection.nodes;
    if (gpu == nullptr || count < 1) continue;
    const auto same = std::find_if(places.begin(), places.end(),
                                   [&](const auto& place) { return place.gpu == gpu; });
    if (same == places.end()) {
      places.push_back({gpu, count});
    } else {
      same->count = std::max(same->count, count);
    }
  }
  return WaysToFit(spec, context.models, context.gpus.catalogue(), std::move(places));
}

// What names that several cards have were taken for: GRES types, and GPUs in `measured:`.
std::vector<std::string> NotesOf(const TrainSpec& spec, const GpuNaming& naming,
                                 const std::vector<Strategy>& strategies) {
  std::vector<std::string> notes;
  const auto add = [&](std::string note, const char* where) {
    if (note.empty()) return;
    note = where + note;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  };
  std::set<std::string> types;
  for (const Strategy& strategy : strategies) {
    const std::string& type = strategy.placement.pool->gres_type;
    if (type.empty() || !types.insert(type).second) continue;
    add(DescribeResolution(naming.catalogue(), naming.ResolveAlias(type)), "GRES type ");
  }
  for (const Stage& stage : spec.stages) {
    for (const MeasuredStep& step : stage.training.measured) {
      if (step.by.empty()) add(DescribeResolution(naming.catalogue(), step.gpu), "measured: ");
    }
  }
  return notes;
}

// Ranks, with what the rows cost others where that decides: all of them if the site weighs it,
// those that end about when the first does otherwise.
void RankAll(const AdviceRequest& request, const AdviceContext& context, const Submitter& caller,
             std::vector<Strategy>& strategies) {
  RankBy by = request.by;
  by.courtesy = context.courtesy;
  RankStrategies(strategies, by);
  const bool all = request.others || (by.courtesy > 0 && by.objective == Objective::kFinish);
  const size_t alike = by.objective == Objective::kFinish ? CountAlike(strategies, by) : 0;
  const size_t count = all ? strategies.size() : alike > 1 ? alike : 0;
  context.for_each(count, [&](size_t i) { PredictDelay(context, caller, strategies[i]); });
  if (count > 0) RankStrategies(strategies, by);
  ExplainRanks(strategies, by);
}

// The ranked strategies on which the array's tasks wait.
std::vector<WaitingShare> WaitingOn(const AdviceRequest& request,
                                    const std::vector<Strategy>& ranked) {
  std::vector<WaitingShare> shares;
  for (const WaitingTasks& waiting : request.waiting) {
    const auto same = std::find_if(ranked.begin(), ranked.end(), [&](const Strategy& strategy) {
      const Placement& placement = strategy.placement;
      return placement.pool->Id() == waiting.gpu &&
             placement.pool->partition->name == waiting.partition &&
             placement.gpus_per_node == waiting.gpus_per_node && placement.nodes == waiting.nodes;
    });
    shares.push_back({static_cast<size_t>(same - ranked.begin()), waiting.tasks, waiting.priority});
  }
  return shares;
}

// Whether runs of the plan wait for each other where fair share counts: it falls as they run.
bool LosesPriority(const SweepPlan& plan, const SchedulerConfig& config) {
  const bool follows =
      config.priority_type == "priority/multifactor" && config.weights.fair_share > 0;
  return follows &&
         std::any_of(plan.shares.begin(), plan.shares.end(),
                     [](const SweepShare& share) { return share.at_a_time < share.members; });
}

// Where the runs of the request's array are done first, with tips about arrays that Slurm would
// refuse.
void PlanArray(const AdviceRequest& request, const AdviceContext& context, const Submitter& caller,
               Advice& advice) {
  if (!request.array || advice.strategies.empty()) return;
  const auto members = static_cast<int64_t>(request.array->numbers.size());
  if (members > kMostMembers) {
    advice.tips.push_back(fmt::format(
        "an array of {} tasks is not planned as a whole ({} at most): this is the advice for one "
        "task",
        members, kMostMembers));
    return;
  }
  const Strategy& first = advice.strategies.front();
  Submitter submitter = caller;
  submitter.account = first.account;
  submitter.qos = first.qos;
  const EffectiveLimits limits =
      FindEffectiveLimits(context.snapshot, *first.placement.pool->partition, submitter);
  for (const Limits* each : limits.by_precedence) {
    if (!each->max_submit_jobs.has_value()) continue;
    if (each->max_submit_jobs.value() < members) {
      advice.tips.push_back(fmt::format(
          "you may have {} jobs in the queue (MaxSubmitJobs): Slurm refuses an array of {}",
          each->max_submit_jobs.value(), members));
    }
    break;
  }
  if (members > 1 || !request.waiting.empty()) {
    advice.sweep = PlanSweep(context, caller, advice.strategies, {members, request.array->throttle},
                             WaitingOn(request, advice.strategies));
    const double start = StartUpSeconds(request.spec);
    if (members > 1 && IsStartKnown(request.spec) && 2 * start > first.run.p50) {
      advice.tips.push_back(fmt::format(
          "starting takes {} of the {} of a run: a command that makes several runs after one start "
          "needs fewer GPU-hours",
          DurationInWords(start), DurationInWords(first.run.p50)));
    }
    if (request.waiting.empty() && advice.sweep &&
        LosesPriority(*advice.sweep, context.snapshot.config)) {
      advice.tips.push_back(
          "your fair share falls while the runs go, and jobs of others may pass those that wait: "
          "submit with --sweep-dir DIR, and `gpuadvise sweep DIR --keep` moves them");
    }
    if (!advice.sweep) {
      advice.tips.push_back(
          "runs that take several jobs each are not planned as a whole: this is the advice for "
          "one");
    }
  }
}

}  // namespace

Result<Advice> Advise(const AdviceRequest& request, const AdviceContext& context,
                      const Submitter& caller) {
  Advice advice;
  advice.pools = context.Pools();
  Result<Placements> placements =
      FindPlacements(request.spec, request.constraints, context.snapshot, advice.pools,
                     context.gpus.catalogue(), caller);
  if (!placements) return tl::unexpected<Error>(placements.error());

  advice.rejected = std::move(placements->rejected);
  SayWhatDoesNotFit(request.spec, context, advice.rejected);
  std::vector<Strategy> tried(placements->possible.size());
  std::vector<Result<void>> outcome(tried.size());
  context.for_each(tried.size(), [&](size_t i) {
    tried[i].placement = placements->possible[i];
    outcome[i] = FitAndEstimate(request.spec, request.constraints, context, tried[i]);
    if (outcome[i]) outcome[i] = PredictStart(request.constraints, context, caller, tried[i]);
  });
  if (context.Stopped()) return context.BudgetError();
  std::vector<Error> errors;
  for (size_t i = 0; i < tried.size(); ++i) {
    if (outcome[i]) {
      advice.strategies.push_back(std::move(tried[i]));
      continue;
    }
    const Error& error = outcome[i].error();
    if (IsFatalForAll(error)) return tl::unexpected<Error>(error);
    errors.push_back(error);
    AddRejection(tried[i].placement, error.message, advice.rejected);
  }
  Result<void> cause = SameCauseEverywhere(errors, *placements, request);
  if (!cause) return tl::unexpected<Error>(cause.error());

  RankAll(request, context, caller, advice.strategies);
  SayWhatLeavesOneGpu(request, advice);
  advice.rejected = Merged(std::move(advice.rejected), advice.strategies);
  advice.assumptions = FindAssumptions(request.spec, context.models);
  if (context.HasRoomForExtras()) advice.tips = TipsFor(request.spec, advice.strategies);
  PlanArray(request, context, caller, advice);
  if (context.Stopped()) return context.BudgetError();
  for (std::string& note : NotesOf(request.spec, context.gpus, advice.strategies)) {
    advice.tips.push_back(std::move(note));
  }
  if (advice.strategies.empty() && context.HasRoomForExtras()) {
    for (std::string& way : WaysFor(request.spec, context, advice.rejected)) {
      advice.tips.push_back(std::move(way));
    }
  }
  const bool resumes = std::any_of(request.spec.stages.begin(), request.spec.stages.end(),
                                   [](const Stage& stage) { return stage.training.resume; });
  advice.shorter_limit = ShorterLimitFor(context, caller, advice.strategies, resumes,
                                         request.constraints.time_min_seconds);
  if (advice.shorter_limit) advice.tips.insert(advice.tips.begin(), advice.shorter_limit->words);
  return advice;
}

}  // namespace gpuadvise
