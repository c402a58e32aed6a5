#include "common/queue_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/past.h"
#include "common/played_queue.h"
#include "common/policy.h"
#include "common/queue_links.h"
#include "common/request_tres.h"
#include "common/simulation.h"

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

/// Long queues are played for all: there fewer equal nodes are counted together, for cost.
size_t PoolFrom(const Snapshot& snapshot, const SimulationOptions& options) {
  const auto waiting = std::count_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                                     [](const Job& job) { return !HoldsNodes(job); });
  const bool is_long =
      options.play_once_from > 0 && static_cast<size_t>(waiting) > options.play_once_from;
  return is_long ? kPoolFromInALongQueue : kPoolFrom;
}

}  // namespace

int64_t QueueModel::PriorityOfArrival(int64_t priority, int64_t time) const {
  // One less, so that among equals those come first who were there first.
  const SchedulerConfig& config = snapshot_->config;
  if (config.priority_type != "priority/multifactor" || config.priority_max_age_seconds <= 0) {
    return priority - 1;
  }
  const double gained = static_cast<double>(config.weights.age) * static_cast<double>(time) /
                        static_cast<double>(config.priority_max_age_seconds);
  return priority - 1 - static_cast<int64_t>(gained);
}

/// Fills a model; lives only while it is built.
class QueueModel::Builder {
 public:
  Builder(QueueModel& model, const Snapshot& snapshot, Past* past)
      : model_(model), snapshot_(snapshot), past_(past) {
    for (size_t i = 0; i < snapshot.partitions.size(); ++i) {
      partition_index_[snapshot.partitions[i].name] = i;
    }
  }

  void Run() {
    if (past_ != nullptr) TellWhoRuns();
    for (const NodeGroup& group : model_.groups_.groups()) {
      model_.free_now_.push_back(group.capacity);
    }
    for (const Job& job : snapshot_.jobs) {
      if (HoldsNodes(job)) AddRunning(job);
    }
    AddUnexplained();
    for (const Job& job : snapshot_.jobs) {
      if (!HoldsNodes(job)) Enqueue(job);
    }
    if (past_ != nullptr) AddArrivals();
    std::stable_sort(model_.pending_.begin(), model_.pending_.end(),
                     [](const PendingJob& a, const PendingJob& b) { return a.rank < b.rank; });
    FindBursts(snapshot_, model_.running_, model_.pending_);
    CountUse();
    model_.component_ = ComponentsOf(model_.groups_, model_.pending_);
    if (past_ != nullptr) MarkHeld();
  }

 private:
  void TellWhoRuns() {
    std::vector<JobRecord> running;
    for (const Job& job : snapshot_.jobs) {
      if (HoldsNodes(job)) running.push_back(RecordOf(job));
    }
    past_->run_times.SetRunning(running, snapshot_.taken_at);
  }

  std::shared_ptr<const RunTimeDistribution> RunTimeOf(const JobRecord& record) {
    if (const auto* known = model_.options_.known_run_times) {
      const auto found = known->find(record.id);
      if (found != known->end()) {
        return std::make_shared<const RunTimeDistribution>(
            RunTimeDistribution::Exactly(found->second));
      }
    }
    if (past_ == nullptr) return nullptr;
    const std::string key =
        fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", record.user, record.name, record.account,
                    record.partition, record.gpu, record.nodes, record.cpus, record.gpus,
                    record.limit_seconds.value_or(0), record.array_job_id, record.submit / 60);
    auto& known = run_times_[key];
    if (!known) known = std::make_shared<const RunTimeDistribution>(past_->run_times.Of(record));
    return known;
  }

  double LastTwo(const JobRecord& record) const {
    return past_ == nullptr ? 0 : past_->run_times.LastTwo(record);
  }

  std::vector<GroupShare> OnGroups(const std::vector<NodeShare>& shares) const {
    std::vector<GroupShare> on;
    for (const NodeShare& share : shares) {
      const int32_t group = model_.groups_.GroupOf(share.node);
      const auto same = std::find_if(on.begin(), on.end(),
                                     [&](const GroupShare& each) { return each.group == group; });
      if (same != on.end()) {
        same->held += share.held;
      } else {
        on.push_back({group, share.held});
      }
    }
    return on;
  }

  void TakeNow(const RunningJob& job) {
    for (const GroupShare& share : job.shares) {
      model_.free_now_[static_cast<size_t>(share.group)] -= share.held;
    }
  }

  CapUses UsesOf(const Job& job, size_t partition, const TresCounts& tres) {
    if (!model_.limits_.keeps_books()) return {};
    const std::string key = fmt::format("{}|{}|{}|{}", partition, job.user, job.account, job.qos);
    const auto known = authorities_.find(key);
    const Authority& authority =
        known != authorities_.end()
            ? known->second
            : authorities_
                  .emplace(key, AuthorityOf(snapshot_, snapshot_.partitions[partition],
                                            {job.uid, job.user, job.account, job.qos}))
                  .first->second;
    return model_.limits_.Count(authority, job.user, tres);
  }

  int32_t ThrottleOf(const Job& job) {
    if (job.array_job_id == 0) return -1;
    const auto known = throttles_.find(job.array_job_id);
    if (known != throttles_.end()) return known->second;
    for (const Job& each : snapshot_.jobs) {
      if (each.array_job_id != job.array_job_id || each.array_throttle <= 0) continue;
      return throttles_
          .emplace(job.array_job_id,
                   model_.limits_.AddCap(
                       each.array_throttle,
                       fmt::format("the throttle of array {} on tasks", job.array_job_id)))
          .first->second;
    }
    return throttles_.emplace(job.array_job_id, -1).first->second;
  }

  void AddRunning(const Job& job) {
    RunningJob running;
    running.id = job.id;
    running.shares = OnGroups(model_.pool_.HeldBy(job));
    running.until = RunningUntil(job, snapshot_.taken_at, snapshot_.config);
    running.elapsed =
        static_cast<double>(snapshot_.taken_at - job.start_time.value_or(snapshot_.taken_at));
    if (!model_.at_limits() && job.state == JobState::kRunning) {
      const JobRecord record = RecordOf(job);
      running.run_time = RunTimeOf(record);
      running.last_two = LastTwo(record);
    }
    if (!job.request.partitions.empty()) {
      const auto partition = partition_index_.find(job.request.partitions.front());
      if (partition != partition_index_.end()) {
        running.caps = UsesOf(job, partition->second, HeldTres(job));
        running.preempt_class = model_.preemption_.ClassOf(partition->second, job.qos);
      }
    }
    if (const int32_t cap = ThrottleOf(job); cap >= 0) running.caps.push_back({cap, 1});
    running.priority = job.priority;
    if (model_.preemption_.MayLose(running.preempt_class)) running.again = Again(job, running);
    TakeNow(running);
    model_.running_.push_back(std::move(running));
  }

  /// A running job as it would wait after its nodes have been taken.
  std::shared_ptr<const PendingJob> Again(const Job& job, const RunningJob& running) {
    Job once_more = job;
    once_more.state = JobState::kPending;
    once_more.reason.clear();
    once_more.priority = std::max<int64_t>(job.priority, 1);
    once_more.eligible_time = snapshot_.taken_at;
    once_more.request.begin_time.reset();
    once_more.dependency.clear();
    std::optional<PendingJob> pending = Wait(once_more);
    if (!pending) return nullptr;
    pending->run_time = running.run_time;
    pending->caps = running.caps;
    return std::make_shared<const PendingJob>(std::move(*pending));
  }

  void AddUnexplained() {
    for (const GroupShare& share : OnGroups(model_.pool_.unexplained())) {
      RunningJob running;
      running.shares = {share};
      running.until = model_.pool_.unexplained_until();
      TakeNow(running);
      model_.running_.push_back(std::move(running));
    }
  }

  void Enqueue(const Job& job) {
    std::optional<PendingJob> pending = Wait(job);
    if (!pending || !FindDependencies(job, *pending)) return;
    if (!model_.at_limits()) {
      const JobRecord record = RecordOf(job);
      pending->run_time = RunTimeOf(record);
      pending->last_two = LastTwo(record);
    }
    if (const int32_t cap = ThrottleOf(job); cap >= 0) pending->caps.push_back({cap, 1});
    const int64_t tasks = TasksOf(job);
    for (pending->task = 0; pending->task < tasks; ++pending->task) {
      model_.pending_.push_back(*pending);
    }
  }

  static int64_t TasksOf(const Job& job) {
    return std::clamp<int64_t>(job.array_task_count, 1, kMaxTasks);
  }

  /// `job` as one that waits; nullopt when it cannot compete.
  std::optional<PendingJob> Wait(const Job& job) {
    PendingJob pending;
    pending.id = job.id;
    const int64_t from = CompetesFrom(job, snapshot_.taken_at);
    if (from >= kNever) return std::nullopt;
    std::vector<size_t> partitions;
    for (const std::string& name : job.request.partitions) AddWay(job, name, pending, partitions);
    if (pending.ways.empty()) return std::nullopt;
    if (ReasonIsLimit(job.reason) && pending.caps.empty()) return std::nullopt;  // one not known
    for (JobWay& way : pending.ways) way.earliest = std::max(way.earliest, from);
    pending.rank =
        RankOf(snapshot_, partitions, !job.request.reservation.empty(), job.priority, job.id);
    pending.user = static_cast<int32_t>(users_.emplace(job.user, users_.size()).first->second);
    const std::optional<UnixSeconds> since =
        job.eligible_time ? job.eligible_time : job.submit_time;
    pending.age = std::max<int64_t>(snapshot_.taken_at - since.value_or(snapshot_.taken_at), 0);
    return pending;
  }

  /// What was submitted lately, as if it were submitted again.
  void AddArrivals() {
    model_.watched_seconds_ = past_->arrivals.WatchedFor(snapshot_.taken_at);
    std::unordered_map<std::string, std::pair<int64_t, int32_t>> bursts;  // last seen, number
    int32_t next_burst = 0;
    for (const Arrival& arrival : past_->arrivals.recent()) {
      const Job& job = arrival.job;
      const int64_t ago = snapshot_.taken_at - arrival.at;
      const bool at_once = job.request.begin_time.value_or(0) <= arrival.at + kBurstSeconds;
      if (ago < 0 || !job.dependency.empty() || !at_once) continue;
      std::optional<PendingJob> pending = Wait(job);
      if (!pending) continue;
      const auto partition = static_cast<size_t>(pending->ways.front().partition);
      pending->rank.priority =
          PredictPriority(snapshot_, model_.scale_, job.request, snapshot_.partitions[partition],
                          {job.uid, job.user, job.account, job.qos})
              .total;
      pending->age = 0;
      JobRecord record = RecordOf(job);
      record.id = 0;
      record.array_job_id = 0;
      record.submit = snapshot_.taken_at + kWatchedSeconds;  // with none of those who are there
      pending->run_time = RunTimeOf(record);
      const auto [burst, added] = bursts.try_emplace(BurstKeyOf(job), ago, next_burst);
      auto& [last_ago, number] = burst->second;
      if (added || last_ago - ago > kBurstSeconds) number = next_burst++;
      last_ago = ago;
      pending->burst = number;
      model_.arriving_.push_back({std::move(*pending), ago, TasksOf(job)});
    }
  }

  void AddWay(const Job& job, const std::string& name, PendingJob& pending,
              std::vector<size_t>& partitions) {
    const auto found = partition_index_.find(name);
    if (found == partition_index_.end()) return;
    const Partition& partition = snapshot_.partitions[found->second];
    if (partition.state != PartitionState::kUp && partition.state != PartitionState::kDrain) return;
    partitions.push_back(found->second);
    const std::string key = ShapeKeyOf(job.request, found->second);
    const Result<JobShape>& shape = ShapeIn(key, job.request, found->second);
    if (!shape) return;
    JobShape timed = *shape;
    if (!SetTimes(model_.pool_, snapshot_, partition, job.request, timed)) return;
    JobWay way;
    way.partition = static_cast<int32_t>(found->second);
    way.shape = OnGroupsOf(key, *shape);
    way.duration = timed.duration;
    way.earliest = timed.earliest;
    way.latest = timed.latest;
    way.preempt_class = model_.preemption_.ClassOf(found->second, job.qos);
    if (pending.ways.empty()) {
      pending.caps =
          UsesOf(job, found->second, RequestTres(job.request, partition, snapshot_.config));
    }
    pending.ways.push_back(std::move(way));
  }

  const Result<JobShape>& ShapeIn(const std::string& key, const JobRequest& request,
                                  size_t partition) {
    const auto known = shapes_.find(key);
    if (known != shapes_.end()) return known->second;
    JobRequest any_time = request;
    any_time.begin_time.reset();
    return shapes_
        .emplace(key, ShapeOf(model_.pool_, snapshot_, snapshot_.partitions[partition],
                              model_.Members(partition), any_time))
        .first->second;
  }

  std::shared_ptr<const GroupShape> OnGroupsOf(const std::string& key, const JobShape& shape) {
    auto& known = group_shapes_[key];
    if (!known) {
      known = std::make_shared<const GroupShape>(model_.groups_.ShapeOn(model_.pool_, shape));
    }
    return known;
  }

  /// False when the job waits for something that will not end.
  bool FindDependencies(const Job& job, PendingJob& pending) {
    if (ids_.empty()) {
      for (const Job& each : snapshot_.jobs) {
        ids_.insert(each.id);
        if (each.array_job_id != 0) ids_.insert(each.array_job_id);
      }
    }
    for (const int64_t id : DependsOn(job.dependency)) {
      if (ids_.contains(id) && id != job.id) pending.after.push_back(id);
    }
    // Slurm strikes out what has been met: a dependency on jobs that are not there never ends.
    return (job.dependency.empty() || !pending.after.empty()) &&
           job.reason != "DependencyNeverSatisfied";
  }

  void CountUse() {
    model_.cap_use_.assign(model_.limits_.most().size(), 0);
    for (const RunningJob& job : model_.running_) {
      for (const CapUse& use : job.caps)
        model_.cap_use_[static_cast<size_t>(use.cap)] += use.amount;
    }
  }

  void MarkHeld() {
    for (PendingJob& job : model_.pending_) job.held = past_->held.IsHeld(job.id);
    past_->held.Seen(StartableNow(model_), snapshot_.taken_at);
    for (PendingJob& job : model_.pending_) job.held = past_->held.IsHeld(job.id);
  }

  QueueModel& model_;
  const Snapshot& snapshot_;
  Past* past_;
  std::unordered_map<std::string, size_t> partition_index_;
  std::unordered_map<std::string, size_t> users_;
  std::unordered_map<std::string, Authority> authorities_;
  std::unordered_map<int64_t, int32_t> throttles_;
  std::unordered_map<std::string, Result<JobShape>> shapes_;
  std::unordered_map<std::string, std::shared_ptr<const GroupShape>> group_shapes_;
  std::unordered_map<std::string, std::shared_ptr<const RunTimeDistribution>> run_times_;
  std::unordered_set<int64_t> ids_;
};

QueueModel::QueueModel(std::shared_ptr<const Snapshot> snapshot, Past* past,
                       const SimulationOptions& options)
    : snapshot_(std::move(snapshot)),
      past_(past),
      options_(options),
      scheduler_(OptionsOf(snapshot_->config)),
      scale_(ScaleOf(*snapshot_)),
      pool_(*snapshot_),
      members_(MembersOf(*snapshot_, pool_)),
      groups_(pool_, members_, PoolFrom(*snapshot_, options)),
      limits_(*snapshot_),
      preemption_(*snapshot_) {
  Builder(*this, *snapshot_, past).Run();
  rivals_ = RivalCount(pending_);
  if (past != nullptr) crowds_.emplace(*snapshot_);
  if (options.play_once_from > 0 && pending_.size() > options.play_once_from) {
    played_ = std::make_shared<const PlayedQueue>(*this);
  }
}

}  // namespace gpuadvise
