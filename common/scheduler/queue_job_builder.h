// From the jobs of a snapshot to those of the simulated queue: on groups of nodes, with their
// limits on use, and with what history knows of their run times.
//
// Lives while a QueueModel is built. What many jobs have in common (requirements, limits, run
// times) is worked out once. Times are seconds from the snapshot. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/base/error.h"
#include "common/history/arrivals.h"
#include "common/history/job_duration_history.h"
#include "common/scheduler/job_requirements.h"
#include "common/scheduler/licence_caps.h"
#include "common/scheduler/node_groups.h"
#include "common/scheduler/node_pool.h"
#include "common/scheduler/queue_jobs.h"
#include "common/scheduler/usage_limits.h"
#include "common/slurm/access.h"
#include "common/slurm/job_record.h"
#include "common/slurm/preemption.h"
#include "common/slurm/priority.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct ForecastHistory;

// What the jobs of a queue are worked out from.
struct QueueGround {
  const Snapshot& snapshot;
  const NodePool& pool;
  const std::vector<std::vector<int32_t>>& members;  // node indices by partition, ascending
  const NodeGroups& groups;
  const Preemption& preemption;
  const PriorityScale& scale;
  UsageLimits& limits;  // gets the caps that jobs need
  const LicenceCaps& licences;
  const ForecastHistory* past;                                 // null: nothing is known
  const std::unordered_map<int64_t, double>* known_run_times;  // by job id; null: none
};

class QueueJobBuilder {
 public:
  // REQUIRES: all of `ground` outlives it.
  explicit QueueJobBuilder(const QueueGround& ground);

  // A job that holds nodes.
  RunningJob BuildRunning(const Job& job);

  // What is in use without a job of the snapshot that holds it, as jobs.
  std::vector<RunningJob> BuildUnexplained() const;

  // A job that waits, or the first task of an array; nullopt when it cannot compete.
  std::optional<PendingJob> BuildPending(const Job& job);

  // What was submitted lately, oldest first, as if it were submitted again.
  // REQUIRES: there is a past.
  std::vector<ArrivingJob> BuildArriving();

  // Numbers of users ("ann") and associations ("ann|lab") that have jobs in the queue.
  std::unordered_map<std::string, int32_t> TakeOwners() { return std::move(owners_); }

 private:
  bool knows_run_times() const { return ground_.past != nullptr || ground_.known_run_times; }
  std::shared_ptr<const RunTimeDistribution> RunTimeOf(const JobRecord& record);
  double MeanOfLastTwo(const JobRecord& record) const;
  std::vector<GroupShare> OnGroups(const std::vector<NodeShare>& shares) const;
  CapUses UsesOf(const Job& job, size_t partition, const TresCounts& tres);
  int32_t ThrottleOf(const Job& job);
  std::shared_ptr<const PendingJob> Requeued(const Job& job, const RunningJob& running);
  std::optional<PendingJob> Competing(const Job& job);
  std::optional<PendingJob> Again(const Arrival& arrival);
  int32_t NumberOfOwner(const std::string& name);
  void AddOptions(const Job& job, const std::string& name, PendingJob& pending,
                  std::vector<size_t>& partitions);
  void AddOption(const Job& job, const JobRequest& request, size_t partition, PendingJob& pending);
  const Result<JobRequirements>& RequirementsIn(const std::string& key, const JobRequest& request,
                                                size_t partition);
  std::shared_ptr<const GroupRequirements> OnGroupsOf(const std::string& key,
                                                      const JobRequirements& requirements);
  bool FindDependencies(const Job& job, PendingJob& pending);

  const QueueGround ground_;
  const Snapshot& snapshot_;
  std::unordered_map<std::string, size_t> partition_index_;
  std::unordered_map<std::string, int32_t> owners_;
  std::unordered_map<std::string, EffectiveLimits> authorities_;
  std::unordered_map<int64_t, int32_t> throttles_;
  std::unordered_map<std::string, Result<JobRequirements>> requirements_;
  std::unordered_map<std::string, std::shared_ptr<const GroupRequirements>> on_groups_;
  std::unordered_map<std::string, std::shared_ptr<const RunTimeDistribution>> run_times_;
  GeneralRunTimes general_run_times_;
  std::unordered_set<int64_t> ids_;
};

// The owner of a job's association.
std::string AssociationName(const std::string& user, const std::string& account);

// Everything of a request that decides which nodes can serve and how much of each: jobs with equal
// keys have equal requirements but for their times.
std::string ShapeKeyOf(const JobRequest& request, size_t partition);

// How many tasks of an array are in the queue, at most kMaxTasks; 1 of another job.
int64_t PlayedTasksOf(const Job& job);

}  // namespace gpuadvise
