// The current backfill plan, without simulation: each job's slot if every job ran for its stated
// duration. With limits, this is the plan that Slurm's backfill would publish.
#include "common/scheduler/plan_now.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr int64_t kLeastRest = 60;  // of a running job past its predicted end

// Remaining time that a running job holds its nodes.
int64_t RestOf(const RunningJob& job, Durations durations) {
  if (durations == Durations::kLimits || job.mean_of_last_two <= 0) return job.until;
  const int64_t rest = std::llround(job.mean_of_last_two - job.elapsed);
  return std::min(std::max(rest, kLeastRest), job.until);
}

int64_t DurationOf(const PendingJob& job, const PartitionOption& option, Durations durations) {
  if (durations == Durations::kLimits || job.mean_of_last_two <= 0) return option.duration;
  return std::min(std::max(std::llround(job.mean_of_last_two), static_cast<long long>(kLeastRest)),
                  static_cast<long long>(option.duration));
}

struct Chosen {
  GroupSlot slot;
  size_t option = 0;
};

Chosen EarliestOf(const GroupPlan& plan, const PendingJob& job, Durations durations) {
  Chosen best;
  for (size_t w = 0; w < job.options.size(); ++w) {
    const PartitionOption& option = job.options[w];
    GroupSlot slot = plan.Earliest(*option.requirements, DurationOf(job, option, durations),
                                   option.earliest, option.latest);
    if (slot.start < best.slot.start) best = {std::move(slot), w};
  }
  return best;
}

bool FitsFree(const QueueModel& queue, const PendingJob& job, const std::vector<Resources>& free) {
  return std::any_of(job.options.begin(), job.options.end(), [&](const PartitionOption& option) {
    int64_t nodes = 0;
    for (const GroupDemand& demand : option.requirements->demands) {
      const auto group = static_cast<size_t>(demand.group);
      nodes += NodesThatFit(demand, queue.groups().groups()[group].pooled(), free[group]);
    }
    return nodes >= option.requirements->nodes;
  });
}

}  // namespace

bool IsWithinLimits(const QueueModel& queue, const PendingJob& job) {
  return std::all_of(job.caps.begin(), job.caps.end(), [&](const LimitUse& use) {
    const auto cap = static_cast<size_t>(use.cap);
    return queue.cap_use()[cap] + use.amount <= queue.limits().most()[cap];
  });
}

GroupPlan PlanOfRunning(const QueueModel& queue, Durations durations, GroupPlan::Grid grid) {
  GroupPlan plan(queue.groups(), grid);
  for (size_t i = 0; i < queue.groups().groups().size(); ++i) {
    plan.Reset(static_cast<int32_t>(i), 0, queue.free_now()[i], i);
  }
  std::vector<std::pair<int64_t, const RunningJob*>> ends;
  for (const RunningJob& job : queue.running()) {
    const int64_t rest = RestOf(job, durations);
    if (rest < kNever) ends.emplace_back(rest, &job);
  }
  std::stable_sort(ends.begin(), ends.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rest, job] : ends) {
    for (const HeldNodes& held : job->held) plan.Release(held.group, rest, held.amount());
  }
  for (const int32_t group : queue.groups().with_parts()) plan.SetPartsAside(group);
  return plan;
}

GroupPlan PlanOfEmptyNodes(const QueueModel& queue) {
  GroupPlan plan(queue.groups());
  const std::vector<NodeGroup>& groups = queue.groups().groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    plan.Reset(static_cast<int32_t>(i), 0, groups[i].capacity, i);
  }
  for (const int32_t group : queue.groups().with_parts()) plan.SetPartsAside(group);
  return plan;
}

double EarliestSeconds(const QueueModel& queue, const GroupPlan& empty, const PendingJob& job) {
  const int64_t start = EarliestOf(empty, job, Durations::kLimits).slot.start;
  return static_cast<double>(std::min(start, queue.options().horizon_seconds));
}

std::vector<bool> FindRelevantComponents(const QueueModel& queue, const PendingJob& request) {
  std::vector<bool> mine(queue.groups().groups().size(), false);
  for (const PartitionOption& option : request.options) {
    for (const GroupDemand& demand : option.requirements->demands) {
      mine[static_cast<size_t>(queue.component_of_group()[static_cast<size_t>(demand.group)])] =
          true;
    }
  }
  return mine;
}

bool IsIn(const QueueModel& queue, const std::vector<bool>& components, const PendingJob& job) {
  return std::any_of(job.options.begin(), job.options.end(), [&](const PartitionOption& option) {
    if (option.requirements->demands.empty()) return false;
    const auto group = static_cast<size_t>(option.requirements->demands.front().group);
    return static_cast<bool>(components[static_cast<size_t>(queue.component_of_group()[group])]);
  });
}

SimulatedStart PlanNext(GroupPlan& plan, const PendingJob& job, Durations durations) {
  Chosen chosen = EarliestOf(plan, job, durations);
  if (chosen.slot.start < kNever) {
    const PartitionOption& option = job.options[chosen.option];
    plan.Take(*option.requirements, chosen.slot, DurationOf(job, option, durations));
  }
  return {chosen.slot.start, static_cast<int32_t>(chosen.option), std::move(chosen.slot.nodes)};
}

SimulatedStart PlanNow(const QueueModel& queue, const PendingJob& request, Durations durations) {
  GroupPlan plan = PlanOfRunning(queue, durations);
  const std::vector<bool> components = FindRelevantComponents(queue, request);
  for (const PendingJob& job : queue.pending()) {
    if (request.rank < job.rank) break;
    const bool replaced = job.id == request.replaces_job && job.task == 0;
    if (IsIn(queue, components, job) && !replaced) PlanNext(plan, job, durations);
  }
  return PlanNext(plan, request, durations);
}

std::vector<int64_t> PlanAllNow(const QueueModel& queue, Durations durations) {
  GroupPlan plan = PlanOfRunning(queue, durations);
  std::vector<int64_t> starts;
  for (const PendingJob& job : queue.pending()) {
    starts.push_back(PlanNext(plan, job, durations).start);
  }
  return starts;
}

std::vector<int64_t> StartableNow(const QueueModel& queue, const HeldJobs& held) {
  const std::vector<PendingJob>& pending = queue.pending();
  size_t last = pending.size();
  while (last > 0 && !FitsFree(queue, pending[last - 1], queue.free_now())) --last;
  std::vector<int64_t> startable;
  if (last == 0) return startable;
  GroupPlan plan = PlanOfRunning(queue, Durations::kLimits);
  int64_t tried = 0;  // an array counts once
  for (size_t i = 0; i < last && tried < queue.scheduler().max_job_test; ++i) {
    const PendingJob& job = pending[i];
    if (!job.after.empty() || !IsWithinLimits(queue, job)) continue;
    if (job.task == 0) ++tried;
    const Chosen chosen = EarliestOf(plan, job, Durations::kLimits);
    if (chosen.slot.start >= kNever) continue;
    if (chosen.slot.start <= 0) startable.push_back(job.id);
    if (held.IsHeld(job.id)) continue;
    const GroupRequirements& requirements = *job.options[chosen.option].requirements;
    const int64_t duration = job.options[chosen.option].duration;
    if (chosen.slot.start <= 0) {
      plan.Take(requirements, chosen.slot, duration);
    } else {  // backfill keeps whole nodes for a job that waits
      const int64_t end = duration >= kNever ? kNever : chosen.slot.start + duration;
      plan.Reserve(requirements, chosen.slot, chosen.slot.start, end);
    }
  }
  return startable;
}

bool IsFreeNow(const QueueModel& queue, const PendingJob& request) {
  return FitsFree(queue, request, queue.free_now());
}

}  // namespace gpuadvise
