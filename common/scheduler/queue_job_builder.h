// Converts the jobs of a snapshot for the simulation: requirements on node groups, usage limits,
// and run times known from history.
//
// Lives while a QueueModel is built. Requirements, limits and run times shared by many jobs are
// computed once. Times are seconds from the snapshot. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
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
#include "common/slurm/fair_share.h"
#include "common/slurm/job_record.h"
#include "common/slurm/preemption.h"
#include "common/slurm/priority.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct ForecastHistory;

// Inputs of the builder.
struct QueueGround {
  const Snapshot& snapshot;
  const NodePool& pool;
  const std::vector<std::vector<int32_t>>& members;  // node indices by partition, ascending
  const NodeGroups& groups;
  const Preemption& preemption;
  const PriorityScale& scale;
  const FairShareTree& fair_shares;
  UsageLimits& limits;  // receives the caps that jobs need
  const LicenceCaps& licences;
  HeldAmounts& amounts;                                        // receives what running jobs hold
  const ForecastHistory* past;                                 // null: no history
  const std::unordered_map<int64_t, double>* known_run_times;  // by job id; null: none
};

class QueueJobBuilder {
 public:
  // REQUIRES: everything in `ground` outlives it.
  explicit QueueJobBuilder(const QueueGround& ground);

  RunningJob BuildRunning(const Job& job);

  // Resources in use without a visible job, as jobs that run as long as jobs do here.
  std::vector<RunningJob> BuildUnexplained();

  // A waiting job, or the first task of an array; nullopt if it cannot compete.
  std::optional<PendingJob> BuildPending(const Job& job);

  // Recent submissions, oldest first, as if submitted again. REQUIRES: history.
  std::vector<ArrivingJob> BuildArriving();

  // Numbers of users ("ann") and associations ("ann|lab") with queued jobs.
  std::unordered_map<std::string, int32_t> TakeOwners() { return std::move(owners_); }

 private:
  bool knows_run_times() const { return ground_.past != nullptr || ground_.known_run_times; }
  std::shared_ptr<const RunTimeDistribution> RunTimeOf(const JobRecord& record);
  double MeanOfLastTwo(const JobRecord& record) const;
  std::vector<HeldNodes> OnGroups(const std::vector<NodeShare>& shares) const;
  CapUses UsesOf(const Job& job, size_t partition, const TresCounts& tres);
  UsageShare UsageOf(const Job& job, size_t partition, const TresCounts& tres);
  int32_t ThrottleOf(const Job& job);
  std::shared_ptr<const PendingJob> Requeued(const Job& job, const RunningJob& running);
  std::optional<PendingJob> Competing(const Job& job);
  int64_t BestPriority(const Job& job, const std::vector<size_t>& partitions) const;
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
  std::unordered_map<std::string, int32_t> leaves_;  // of the FairShareTree
  std::unordered_map<int64_t, int32_t> throttles_;
  std::unordered_map<std::string, Result<JobRequirements>> requirements_;
  std::unordered_map<std::string, std::shared_ptr<const GroupRequirements>> on_groups_;
  std::unordered_map<std::string, std::shared_ptr<const RunTimeDistribution>> run_times_;
  GeneralRunTimes general_run_times_;
  std::unordered_map<int64_t, std::vector<int64_t>> jobs_of_;  // by the id of a job or an array
};

// Key of a job's association.
std::string AssociationName(const std::string& user, const std::string& account);

// Key of everything in a request that decides node eligibility and amounts. Jobs with equal keys
// differ only in times.
std::string RequirementsKey(const JobRequest& request, size_t partition);

// Tasks of an array in the queue, at most kMaxTasks; 1 for other jobs.
int64_t CountSimulatedTasks(const Job& job);

}  // namespace gpuadvise
