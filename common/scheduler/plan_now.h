// Pieces of the current backfill plan: resources left by running jobs, then one job after the
// other. See plan_now.cc and simulation.h. Pure.
#pragma once

#include <vector>

#include "common/scheduler/group_plan.h"
#include "common/scheduler/simulation.h"

namespace gpuadvise {

// Future releases, assuming no new starts.
GroupPlan PlanOfRunning(const QueueModel& queue, Durations durations,
                        GroupPlan::Grid grid = GroupPlan::Grid::kExact);

// Whether no usage limit keeps `job` from starting now.
bool IsWithinLimits(const QueueModel& queue, const PendingJob& job);

// The plan if no job existed: reservations alone take nodes.
GroupPlan PlanOfEmptyNodes(const QueueModel& queue);

// Seconds until `job` could start on such an `empty` plan, at most the horizon. No forecast may be
// earlier.
double EarliestSeconds(const QueueModel& queue, const GroupPlan& empty, const PendingJob& job);

// Takes the earliest slot of `plan` for `job`; kNever: none.
SimulatedStart PlanNext(GroupPlan& plan, const PendingJob& job, Durations durations);

// By component: whether it can affect `request`.
std::vector<bool> FindRelevantComponents(const QueueModel& queue, const PendingJob& request);

// Whether `job` is in one of these components.
bool IsIn(const QueueModel& queue, const std::vector<bool>& components, const PendingJob& job);

}  // namespace gpuadvise
