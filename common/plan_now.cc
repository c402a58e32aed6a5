// The backfill plan as of now, without playing anything: who would get which slot if every job ran
// as long as stated. At the limits it is what Slurm's backfill itself would publish.
#include "common/plan_now.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

constexpr int64_t kLeastRest = 60;  // of a running job that is past its predicted end

/// How long a running job still holds its nodes.
int64_t RestOf(const RunningJob& job, Durations durations) {
  if (durations == Durations::kLimits || job.last_two <= 0) return job.until;
  const int64_t rest = std::llround(job.last_two - job.elapsed);
  return std::min(std::max(rest, kLeastRest), job.until);
}

int64_t DurationOf(const PendingJob& job, const JobWay& way, Durations durations) {
  if (durations == Durations::kLimits || job.last_two <= 0) return way.duration;
  return std::min(std::max(std::llround(job.last_two), static_cast<long long>(kLeastRest)),
                  static_cast<long long>(way.duration));
}

struct Chosen {
  GroupSlot slot;
  size_t way = 0;
};

Chosen EarliestOf(const GroupPlan& plan, const PendingJob& job, Durations durations) {
  Chosen best;
  for (size_t w = 0; w < job.ways.size(); ++w) {
    const JobWay& way = job.ways[w];
    GroupSlot slot =
        plan.Earliest(*way.shape, DurationOf(job, way, durations), way.earliest, way.latest);
    if (slot.start < best.slot.start) best = {std::move(slot), w};
  }
  return best;
}

bool FitsFree(const QueueModel& queue, const PendingJob& job, const std::vector<Resources>& free) {
  return std::any_of(job.ways.begin(), job.ways.end(), [&](const JobWay& way) {
    int64_t nodes = 0;
    for (const Place& place : way.shape->places) {
      const auto group = static_cast<size_t>(place.group);
      nodes += NodesThatFit(place, queue.groups().groups()[group].pooled(), free[group]);
    }
    return nodes >= way.shape->nodes;
  });
}

bool WithinLimits(const QueueModel& queue, const PendingJob& job) {
  return std::all_of(job.caps.begin(), job.caps.end(), [&](const CapUse& use) {
    const auto cap = static_cast<size_t>(use.cap);
    return queue.cap_use()[cap] + use.amount <= queue.limits().most()[cap];
  });
}

}  // namespace

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
    for (const GroupShare& share : job->shares) plan.Release(share.group, rest, share.held);
  }
  return plan;
}

std::vector<bool> FateOf(const QueueModel& queue, const PendingJob& request) {
  std::vector<bool> mine(queue.groups().groups().size(), false);
  for (const JobWay& way : request.ways) {
    for (const Place& place : way.shape->places) {
      mine[static_cast<size_t>(queue.component_of_group()[static_cast<size_t>(place.group)])] =
          true;
    }
  }
  return mine;
}

bool IsIn(const QueueModel& queue, const std::vector<bool>& components, const PendingJob& job) {
  return std::any_of(job.ways.begin(), job.ways.end(), [&](const JobWay& way) {
    if (way.shape->places.empty()) return false;
    const auto group = static_cast<size_t>(way.shape->places.front().group);
    return static_cast<bool>(components[static_cast<size_t>(queue.component_of_group()[group])]);
  });
}

PlayedStart PlanNext(GroupPlan& plan, const PendingJob& job, Durations durations) {
  const Chosen chosen = EarliestOf(plan, job, durations);
  if (chosen.slot.start < kNever) {
    const JobWay& way = job.ways[chosen.way];
    plan.Take(*way.shape, chosen.slot, DurationOf(job, way, durations));
  }
  return {chosen.slot.start, static_cast<int32_t>(chosen.way), chosen.slot.nodes};
}

PlayedStart PlanNow(const QueueModel& queue, const PendingJob& request, Durations durations) {
  GroupPlan plan = PlanOfRunning(queue, durations);
  const std::vector<bool> components = FateOf(queue, request);
  for (const PendingJob& job : queue.pending()) {
    if (request.rank < job.rank) break;
    const bool replaced = job.id == request.instead_of && job.task == 0;
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

std::vector<int64_t> StartableNow(const QueueModel& queue) {
  const std::vector<PendingJob>& pending = queue.pending();
  size_t last = pending.size();
  while (last > 0 && !FitsFree(queue, pending[last - 1], queue.free_now())) --last;
  std::vector<int64_t> startable;
  if (last == 0) return startable;
  GroupPlan plan = PlanOfRunning(queue, Durations::kLimits);
  for (size_t i = 0; i < last; ++i) {
    const PendingJob& job = pending[i];
    if (!job.after.empty() || !WithinLimits(queue, job)) continue;
    const Chosen chosen = EarliestOf(plan, job, Durations::kLimits);
    if (chosen.slot.start >= kNever) continue;
    if (chosen.slot.start <= 0) startable.push_back(job.id);
    const JobWay& way = job.ways[chosen.way];
    if (!job.held) plan.Take(*way.shape, chosen.slot, way.duration);
  }
  return startable;
}

bool IsFreeNow(const QueueModel& queue, const PendingJob& request) {
  return FitsFree(queue, request, queue.free_now());
}

}  // namespace gpuadvise
