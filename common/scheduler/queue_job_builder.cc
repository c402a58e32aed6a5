#include "common/scheduler/queue_job_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "common/history/forecast_history.h"
#include "common/scheduler/reservation_access.h"
#include "common/slurm/policy.h"
#include "common/slurm/tres.h"

namespace gpuadvise {
namespace {

// A submission with a later begin time does not predict another like it.
constexpr int64_t kLateBeginSeconds = 600;

}  // namespace

std::string RequirementsKey(const JobRequest& request, size_t partition) {
  const auto number = [](SlurmNumber n) { return n.has_value() ? n.value() : -1; };
  std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}|", partition, request.nodes_min,
                  request.nodes_max, request.cpus, request.cpus_per_task,
                  number(request.memory_per_node_mib), number(request.memory_per_cpu_mib),
                  request.shards_per_node, request.mps_per_node, request.exclusive,
                  request.exclusive_to, request.reservation, request.features, request.tasks);
  for (const GpuCount& gpu : request.gpus_per_node)
    key += fmt::format("{}:{},", gpu.type, gpu.count);
  key += '|';
  for (const GpuCount& gpu : request.gpus_total) key += fmt::format("{}:{},", gpu.type, gpu.count);
  for (const std::string& node : request.required_nodes) key += "+" + node;
  for (const std::string& node : request.excluded_nodes) key += "-" + node;
  return key;
}

std::string AssociationName(const std::string& user, const std::string& account) {
  return user + "|" + account;
}

int64_t CountSimulatedTasks(const Job& job) {
  return std::clamp<int64_t>(job.array_task_count, 1, kMaxTasks);
}

QueueJobBuilder::QueueJobBuilder(const QueueGround& ground)
    : ground_(ground), snapshot_(ground.snapshot) {
  for (size_t i = 0; i < snapshot_.partitions.size(); ++i) {
    partition_index_[snapshot_.partitions[i].name] = i;
  }
}

std::shared_ptr<const RunTimeDistribution> QueueJobBuilder::RunTimeOf(const JobRecord& record) {
  if (const auto* known = ground_.known_run_times) {
    const auto found = known->find(record.id);
    if (found != known->end()) {
      return std::make_shared<const RunTimeDistribution>(
          RunTimeDistribution::Exactly(found->second));
    }
  }
  if (ground_.past == nullptr) return nullptr;
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", record.user, record.name, record.account,
                  record.partition, record.gpu, record.nodes, record.cpus, record.gpus,
                  record.limit_seconds.value_or(0), record.array_job_id, record.submit / 60);
  auto& known = run_times_[key];
  if (!known) {
    known = std::make_shared<const RunTimeDistribution>(
        ground_.past->run_times.Of(record, general_run_times_));
  }
  return known;
}

double QueueJobBuilder::MeanOfLastTwo(const JobRecord& record) const {
  return ground_.past == nullptr ? 0 : ground_.past->run_times.LastTwo(record);
}

std::vector<HeldNodes> QueueJobBuilder::OnGroups(const std::vector<NodeShare>& shares) const {
  std::vector<HeldNodes> on;
  for (const NodeShare& share : shares) {
    const int32_t group = ground_.groups.GroupOf(share.node);
    const auto same = std::find_if(on.begin(), on.end(),
                                   [&](const HeldNodes& each) { return each.group == group; });
    if (same != on.end()) {
      same->each = ground_.amounts.Of(*same->each + share.held);
    } else {
      on.push_back({group, 1, ground_.amounts.Of(share.held)});
    }
  }
  return on;
}

CapUses QueueJobBuilder::UsesOf(const Job& job, size_t partition, const TresCounts& tres) {
  if (!ground_.limits.is_enforced()) return {};
  const std::string key = fmt::format("{}|{}|{}|{}", partition, job.user, job.account, job.qos);
  const auto known = authorities_.find(key);
  const EffectiveLimits& authority =
      known != authorities_.end()
          ? known->second
          : authorities_
                .emplace(key, FindEffectiveLimits(snapshot_, snapshot_.partitions[partition],
                                                  {job.uid, job.user, job.account, job.qos}))
                .first->second;
  return ground_.limits.Count(authority, job.user, tres);
}

UsageShare QueueJobBuilder::UsageOf(const Job& job, size_t partition, const TresCounts& tres) {
  if (ground_.fair_shares.empty()) return {};
  const Partition& where = snapshot_.partitions[partition];
  const auto [leaf, added] =
      leaves_.try_emplace(fmt::format("{}|{}|{}", partition, job.user, job.account), -1);
  if (added) {
    const Submitter who = {job.uid, job.user, job.account, job.qos};
    leaf->second = ground_.fair_shares.LeafOf(FindAssociation(snapshot_, who, where.name));
  }
  const Qos* qos = FindQos(snapshot_, BestQos(snapshot_, job.qos));
  return {leaf->second, UsagePerSecond(tres, where, qos, snapshot_.config)};
}

int32_t QueueJobBuilder::ThrottleOf(const Job& job) {
  if (job.array_job_id == 0) return -1;
  const auto known = throttles_.find(job.array_job_id);
  if (known != throttles_.end()) return known->second;
  for (const Job& each : snapshot_.jobs) {
    if (each.array_job_id != job.array_job_id || each.array_throttle <= 0) continue;
    return throttles_
        .emplace(job.array_job_id,
                 ground_.limits.AddCap(
                     each.array_throttle,
                     fmt::format("the throttle of array {} on tasks", job.array_job_id)))
        .first->second;
  }
  return throttles_.emplace(job.array_job_id, -1).first->second;
}

RunningJob QueueJobBuilder::BuildRunning(const Job& job) {
  RunningJob running;
  running.id = job.id;
  running.held = OnGroups(ground_.pool.HeldBy(job));
  running.until = RunningUntil(job, snapshot_.taken_at, snapshot_.config);
  running.elapsed =
      static_cast<double>(snapshot_.taken_at - job.start_time.value_or(snapshot_.taken_at));
  if (knows_run_times() && job.state == JobState::kRunning) {
    const JobRecord record = RecordOf(job);
    running.run_time = RunTimeOf(record);
    running.mean_of_last_two = MeanOfLastTwo(record);
  }
  if (!job.request.partitions.empty()) {
    const auto partition = partition_index_.find(job.request.partitions.front());
    if (partition != partition_index_.end()) {
      running.caps = UsesOf(job, partition->second, HeldTres(job));
      running.preempt_class =
          ground_.preemption.ClassOf(partition->second, BestQos(snapshot_, job.qos));
      running.usage = UsageOf(job, partition->second, HeldTres(job));
    }
  }
  for (const LimitUse& use : ground_.licences.Count(job.request)) running.caps.push_back(use);
  if (const int32_t cap = ThrottleOf(job); cap >= 0) running.caps.push_back({cap, 1});
  running.priority = job.priority;
  if (ground_.preemption.MayLose(running.preempt_class)) {
    running.requeued_as = Requeued(job, running);
  }
  return running;
}

// A running job as it would wait after preemption.
std::shared_ptr<const PendingJob> QueueJobBuilder::Requeued(const Job& job,
                                                            const RunningJob& running) {
  Job once_more = job;
  once_more.state = JobState::kPending;
  once_more.reason.clear();
  once_more.priority = std::max<int64_t>(job.priority, 1);
  once_more.eligible_time = snapshot_.taken_at;
  once_more.request.begin_time.reset();
  once_more.dependency.clear();
  std::optional<PendingJob> pending = Competing(once_more);
  if (!pending) return nullptr;
  pending->run_time = running.run_time;
  pending->caps = running.caps;
  return std::make_shared<const PendingJob>(std::move(*pending));
}

std::vector<RunningJob> QueueJobBuilder::BuildUnexplained() {
  std::vector<RunningJob> unexplained;
  // Of hidden jobs nothing is known but how long jobs run here.
  JobRecord any;
  any.limit_seconds = ground_.pool.unexplained_until();
  const bool hidden = ground_.pool.unexplained_until() > kReleaseSeconds;
  const auto run_time = hidden && knows_run_times() ? RunTimeOf(any) : nullptr;
  for (const HeldNodes& held : OnGroups(ground_.pool.unexplained())) {
    RunningJob& running = unexplained.emplace_back();
    running.held = {held};
    running.until = ground_.pool.unexplained_until();
    running.run_time = run_time;
  }
  return unexplained;
}

std::optional<PendingJob> QueueJobBuilder::BuildPending(const Job& job) {
  std::optional<PendingJob> pending = Competing(job);
  if (!pending || !FindDependencies(job, *pending)) return std::nullopt;
  if (knows_run_times()) {
    const JobRecord record = RecordOf(job);
    pending->run_time = RunTimeOf(record);
    pending->mean_of_last_two = MeanOfLastTwo(record);
  }
  if (const int32_t cap = ThrottleOf(job); cap >= 0) {
    pending->caps.push_back({cap, 1});
    pending->throttle = cap;
  }
  return pending;
}

// `job` as a waiting job, ignoring dependencies; nullopt if it cannot compete.
std::optional<PendingJob> QueueJobBuilder::Competing(const Job& job) {
  PendingJob pending;
  pending.id = job.id;
  const int64_t from = EligibleFrom(job, snapshot_.taken_at);
  if (from >= kNever) return std::nullopt;
  std::vector<size_t> partitions;
  for (const std::string& name : job.request.partitions) AddOptions(job, name, pending, partitions);
  if (pending.options.empty()) return std::nullopt;
  for (const LimitUse& use : ground_.licences.Count(job.request)) pending.caps.push_back(use);
  if (IsLimitReason(job.reason) && pending.caps.empty()) return std::nullopt;  // an unknown limit
  for (PartitionOption& option : pending.options) option.earliest = std::max(option.earliest, from);
  pending.rank = MakeRank(snapshot_, partitions, !job.request.reservation.empty(),
                          BestPriority(job, partitions), job.id);
  pending.usage =
      UsageOf(job, partitions.front(),
              RequestTres(job.request, snapshot_.partitions[partitions.front()], snapshot_.config));
  pending.user = NumberOfOwner(job.user);
  pending.association = NumberOfOwner(AssociationName(job.user, job.account));
  const std::optional<UnixSeconds> since = job.eligible_time ? job.eligible_time : job.submit_time;
  pending.age = std::max<int64_t>(snapshot_.taken_at - since.value_or(snapshot_.taken_at), 0);
  return pending;
}

// Slurm ranks a job once for each of its partitions, by their job factors, and shows one priority:
// that of the partition it tried last. The highest counts.
int64_t QueueJobBuilder::BestPriority(const Job& job, const std::vector<size_t>& partitions) const {
  const SchedulerConfig& config = snapshot_.config;
  if (partitions.size() < 2 || config.priority_type != "priority/multifactor" ||
      config.weights.partition == 0) {
    return job.priority;
  }
  const int64_t waited = snapshot_.taken_at - job.eligible_time.value_or(snapshot_.taken_at);
  const double most_age =
      static_cast<double>(std::max<int64_t>(config.priority_max_age_seconds, 1));
  const double age = std::clamp(static_cast<double>(waited) / most_age, 0.0, 1.0);
  const int64_t without_age =
      job.priority + job.nice - std::llround(age * static_cast<double>(config.weights.age));
  int64_t best = 0, shown = 0;
  for (const size_t index : partitions) {
    const int64_t predicted =
        PredictPriority(snapshot_, ground_.scale, job.request, snapshot_.partitions[index],
                        {job.uid, job.user, job.account, job.qos})
            .total;
    best = std::max(best, predicted);
    if (shown == 0 || std::abs(predicted - without_age) < std::abs(shown - without_age)) {
      shown = predicted;
    }
  }
  return job.priority + best - shown;
}

std::vector<ArrivingJob> QueueJobBuilder::BuildArriving() {
  struct Burst {
    int64_t last_ago = 0;
    int32_t number = -1;
  };
  struct Kind {
    std::optional<PendingJob> job;  // nullopt: cannot compete
    Burst* burst = nullptr;
  };
  const auto& recent = ground_.past->arrivals.recent();
  std::vector<ArrivingJob> arriving;
  arriving.reserve(recent.size());
  std::unordered_map<std::string, Burst> bursts;
  std::unordered_map<int64_t, Kind> kinds;
  int32_t next_burst = 0;
  for (const Arrival& arrival : recent) {
    const Job& job = arrival.job;
    const int64_t ago = snapshot_.taken_at - arrival.at;
    const bool at_once = job.request.begin_time.value_or(0) <= arrival.at + kLateBeginSeconds;
    if (ago < 0 || !job.dependency.empty() || !at_once) continue;
    const auto [known, added] = kinds.try_emplace(arrival.kind);
    Kind& kind = known->second;
    if (added) {
      kind.job = Again(arrival);
      if (kind.job) kind.burst = &bursts[MakeBurstKey(RecordOf(job))];
    }
    if (!kind.job) continue;
    const int64_t tasks = CountSimulatedTasks(job);
    ArrivingJob& one = arriving.emplace_back(ArrivingJob{*kind.job, ago, tasks});
    one.job.id = one.job.rank.job_id = job.id;
    one.job.of_array = tasks > 1;
    Burst& burst = *kind.burst;
    if (burst.number < 0 || burst.last_ago - ago > kBurstSeconds) burst.number = next_burst++;
    burst.last_ago = ago;
    one.job.burst = burst.number;
  }
  return arriving;
}

// A past submission as if submitted now.
std::optional<PendingJob> QueueJobBuilder::Again(const Arrival& arrival) {
  const Job& job = arrival.job;
  std::optional<PendingJob> pending = Competing(job);
  if (!pending) return std::nullopt;
  const auto partition = static_cast<size_t>(pending->options.front().partition);
  pending->rank.priority =
      PredictPriority(snapshot_, ground_.scale, job.request, snapshot_.partitions[partition],
                      {job.uid, job.user, job.account, job.qos})
          .total;
  pending->age = 0;
  pending->run_time = ground_.past->arrivals.RunTimeOf(arrival.kind);
  if (!pending->run_time) pending->run_time = RunTimeOf(Resubmitted(arrival));
  return pending;
}

int32_t QueueJobBuilder::NumberOfOwner(const std::string& name) {
  return owners_.emplace(name, static_cast<int32_t>(owners_.size())).first->second;
}

// Options of a job in one partition: as it is, and in MAGNETIC reservations.
void QueueJobBuilder::AddOptions(const Job& job, const std::string& name, PendingJob& pending,
                                 std::vector<size_t>& partitions) {
  const auto found = partition_index_.find(name);
  if (found == partition_index_.end()) return;
  const Partition& partition = snapshot_.partitions[found->second];
  if (partition.state != PartitionState::kUp && partition.state != PartitionState::kDrain) return;
  partitions.push_back(found->second);
  AddOption(job, job.request, found->second, pending);
  if (snapshot_.reservations.empty() || !job.request.reservation.empty()) return;
  for (const std::string& magnet :
       MagnetsFor(snapshot_, {job.user, job.account, job.qos, partition.name})) {
    JobRequest inside = job.request;
    inside.reservation = magnet;
    const size_t before = pending.options.size();
    AddOption(job, inside, found->second, pending);
    if (pending.options.size() > before) pending.options.back().magnetic = true;
  }
}

void QueueJobBuilder::AddOption(const Job& job, const JobRequest& request, size_t index,
                                PendingJob& pending) {
  const Partition& partition = snapshot_.partitions[index];
  const std::string key = RequirementsKey(request, index);
  const Result<JobRequirements>& requirements = RequirementsIn(key, request, index);
  if (!requirements) return;
  JobRequirements timed = *requirements;
  if (!SetTimes(ground_.pool, snapshot_, partition, request, timed)) return;
  PartitionOption option;
  option.partition = static_cast<int32_t>(index);
  option.requirements = OnGroupsOf(key, *requirements);
  option.duration = timed.duration;
  option.earliest = timed.earliest;
  option.latest = timed.latest;
  option.preempt_class = ground_.preemption.ClassOf(index, BestQos(snapshot_, job.qos));
  if (pending.options.empty() && ground_.limits.is_enforced()) {
    pending.caps = UsesOf(job, index, RequestTres(request, partition, snapshot_.config));
  }
  pending.options.push_back(std::move(option));
}

const Result<JobRequirements>& QueueJobBuilder::RequirementsIn(const std::string& key,
                                                               const JobRequest& request,
                                                               size_t partition) {
  const auto known = requirements_.find(key);
  if (known != requirements_.end()) return known->second;
  JobRequest any_time = request;
  any_time.begin_time.reset();
  return requirements_
      .emplace(key, ResolveRequirements(ground_.pool, snapshot_, snapshot_.partitions[partition],
                                        ground_.members[partition], any_time))
      .first->second;
}

std::shared_ptr<const GroupRequirements> QueueJobBuilder::OnGroupsOf(
    const std::string& key, const JobRequirements& requirements) {
  auto& known = on_groups_[key];
  if (!known) {
    known = std::make_shared<const GroupRequirements>(
        ground_.groups.SpreadOverGroups(ground_.pool, requirements));
  }
  return known;
}

// False if the job waits for something that never ends.
bool QueueJobBuilder::FindDependencies(const Job& job, PendingJob& pending) {
  if (jobs_of_.empty()) {
    for (const Job& each : snapshot_.jobs) {
      jobs_of_[each.id].push_back(each.id);
      // Of an array all tasks: those that wait have its id.
      if (each.array_job_id != 0 && each.array_job_id != each.id) {
        jobs_of_[each.array_job_id].push_back(each.id);
      }
    }
  }
  for (const int64_t id : DependsOn(job.dependency)) {
    const auto found = jobs_of_.find(id);
    if (found == jobs_of_.end() || id == job.id) continue;
    pending.after.insert(pending.after.end(), found->second.begin(), found->second.end());
  }
  // Slurm removes met dependencies, so one on a missing job never ends.
  return (job.dependency.empty() || !pending.after.empty()) &&
         job.reason != "DependencyNeverSatisfied";
}

}  // namespace gpuadvise
