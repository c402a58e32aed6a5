#include "common/scheduler/queue_model.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "common/history/forecast_history.h"
#include "common/scheduler/bursts_and_components.h"
#include "common/scheduler/queue_job_builder.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

constexpr size_t kPoolFromInALongQueue = 8;

std::vector<std::vector<int32_t>> MembersOf(const Snapshot& snapshot, const NodePool& pool) {
  std::vector<std::vector<int32_t>> members;
  for (const Partition& partition : snapshot.partitions) {
    std::vector<int32_t>& nodes = members.emplace_back();
    for (const std::string& name : partition.nodes) {
      const int32_t node = pool.FindNode(name);
      if (node >= 0) nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  return members;
}

bool IsLong(const Snapshot& snapshot, const SimulationOptions& options) {
  const auto waiting = std::count_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                                     [](const Job& job) { return !HoldsNodes(job); });
  return options.simulate_once_from > 0 &&
         static_cast<size_t>(waiting) > options.simulate_once_from;
}

// With an empty tree where fair share is not simulated.
FairShareTree SharesOf(const Snapshot& snapshot, const ForecastHistory* past,
                       const SimulationOptions& options) {
  if (past == nullptr || IsLong(snapshot, options)) return {};
  std::unordered_set<std::string> active;
  for (const Job& job : snapshot.jobs) active.insert(job.user);
  for (const Arrival& arrival : past->arrivals.recent()) active.insert(arrival.job.user);
  return {snapshot, active};
}

// Long queues are simulated once for all questions. There, smaller sets of equal nodes are pooled
// to save time.
size_t PoolFrom(const Snapshot& snapshot, const SimulationOptions& options) {
  return IsLong(snapshot, options) ? kPoolFromInALongQueue : kPoolFrom;
}

}  // namespace

int64_t QueueModel::PriorityOfArrival(int64_t priority, int64_t time) const {
  // Minus one, so that of equal priorities the earlier job is first.
  const SchedulerConfig& config = snapshot_->config;
  if (config.priority_type != "priority/multifactor" || config.priority_max_age_seconds <= 0) {
    return priority - 1;
  }
  const double gained = static_cast<double>(config.weights.age) * static_cast<double>(time) /
                        static_cast<double>(config.priority_max_age_seconds);
  return priority - 1 - static_cast<int64_t>(gained);
}

QueueModel::QueueModel(std::shared_ptr<const Snapshot> snapshot, const ForecastHistory* past,
                       const SimulationOptions& options)
    : snapshot_(std::move(snapshot)),
      past_(past),
      options_(options),
      scheduler_(OptionsOf(snapshot_->config)),
      scale_(MakePriorityScale(*snapshot_)),
      pool_(*snapshot_),
      members_(MembersOf(*snapshot_, pool_)),
      groups_(pool_, members_, PoolFrom(*snapshot_, options)),
      limits_(*snapshot_),
      licences_(*snapshot_, limits_),
      preemption_(*snapshot_),
      fair_shares_(SharesOf(*snapshot_, past, options)) {
  QueueJobBuilder builder({*snapshot_, pool_, members_, groups_, preemption_, scale_, fair_shares_,
                           limits_, licences_, amounts_, past, options.known_run_times});
  AddRunning(builder);
  AddPending(builder);
  if (past != nullptr) {
    arriving_ = builder.BuildArriving();
    watched_seconds_ = past->arrivals.WatchedFor(snapshot_->taken_at);
    crowds_.emplace(*snapshot_);
  }
  owners_ = builder.TakeOwners();
  CountUse();
  FindBursts(*snapshot_, running_, pending_);
  component_ = ComponentsOf(groups_, pending_);
}

int32_t QueueModel::OwnerOf(const std::string& name) const {
  const auto found = owners_.find(name);
  return found == owners_.end() ? -1 : found->second;
}

void QueueModel::Settle(const HeldJobs* held) {
  if (held != nullptr) {
    for (PendingJob& job : pending_) job.held = held->IsHeld(job.id);
  }
  rivals_ = RivalCounter(pending_);
}

// Adds running jobs and computes what they leave free.
void QueueModel::AddRunning(QueueJobBuilder& builder) {
  for (const Job& job : snapshot_->jobs) {
    if (!HoldsNodes(job)) continue;
    running_.push_back(builder.BuildRunning(job));
    if (job.expedited_requeue) expedited_.push_back(&job);
  }
  for (RunningJob& job : builder.BuildUnexplained()) running_.push_back(std::move(job));
  KeepSharedNodes();
  for (const LicencesAside& aside : licences_.aside()) {
    RunningJob& holder = running_.emplace_back();
    holder.until = aside.until;
    holder.caps = {aside.use};
  }
  for (const NodeGroup& group : groups_.groups()) free_now_.push_back(group.capacity);
  for (const RunningJob& job : running_) {
    for (const HeldNodes& held : job.held) {
      free_now_[static_cast<size_t>(held.group)] -= held.amount();
    }
  }
}

// A node shared only by jobs of one user, label or block is exclusive until the last of them ends:
// that job holds all of it.
void QueueModel::KeepSharedNodes() {
  std::unordered_map<std::string, size_t> last;  // by node: index in running_
  size_t index = 0;
  for (const Job& job : snapshot_->jobs) {
    if (!HoldsNodes(job)) continue;
    const size_t own = index++;
    const Partition* partition = job.request.partitions.empty()
                                     ? nullptr
                                     : FindPartition(*snapshot_, job.request.partitions.front());
    const bool by_partition = partition != nullptr && !partition->exclusive_to.empty();
    if (job.request.exclusive_to.empty() && !by_partition) continue;
    for (const Allocation& held : job.allocations) {
      const auto [known, added] = last.try_emplace(held.node, own);
      if (!added && running_[own].until > running_[known->second].until) known->second = own;
    }
  }
  if (last.empty()) return;
  const auto give = [&](size_t job, int32_t group, const Resources& more) {
    std::vector<HeldNodes>& held = running_[job].held;
    const auto here = std::find_if(held.begin(), held.end(),
                                   [&](const HeldNodes& each) { return each.group == group; });
    here->each = amounts_.Of(*here->each + more);
  };
  std::unordered_map<int32_t, Resources> left;  // by node
  for (const auto& [name, job] : last) {
    const int32_t node = pool_.FindNode(name);
    if (node >= 0) left.emplace(node, pool_.nodes()[static_cast<size_t>(node)].capacity);
  }
  index = 0;
  for (const Job& job : snapshot_->jobs) {
    if (!HoldsNodes(job)) continue;
    const size_t own = index++;
    for (const NodeShare& share : pool_.HeldBy(job)) {
      const auto rest = left.find(share.node);
      if (rest == left.end()) continue;
      const int32_t group = groups_.GroupOf(share.node);
      const size_t holder = last.at(pool_.nodes()[static_cast<size_t>(share.node)].name);
      rest->second -= share.held;
      give(own, group, Resources() - share.held);
      give(holder, group, share.held);
    }
  }
  for (const auto& [node, rest] : left) {
    const size_t holder = last.at(pool_.nodes()[static_cast<size_t>(node)].name);
    give(holder, groups_.GroupOf(node), rest);
  }
}

// Adds waiting jobs in queue order.
void QueueModel::AddPending(QueueJobBuilder& builder) {
  for (const Job& job : snapshot_->jobs) {
    if (HoldsNodes(job)) continue;
    std::optional<PendingJob> pending = builder.BuildPending(job);
    if (!pending) continue;
    const int64_t tasks = CountSimulatedTasks(job);
    pending->of_array = tasks > 1;
    for (pending->task = 0; pending->task < tasks; ++pending->task) pending_.push_back(*pending);
  }
  std::stable_sort(pending_.begin(), pending_.end(),
                   [](const PendingJob& a, const PendingJob& b) { return a.rank < b.rank; });
}

// Counts running jobs against each cap. REQUIRES: all caps are known.
void QueueModel::CountUse() {
  cap_use_.assign(limits_.most().size(), 0);
  for (const RunningJob& job : running_) {
    for (const LimitUse& use : job.caps) cap_use_[static_cast<size_t>(use.cap)] += use.amount;
  }
}

}  // namespace gpuadvise
