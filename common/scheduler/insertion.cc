#include "common/scheduler/insertion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/words.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/job_requirements.h"
#include "common/scheduler/queue_job_builder.h"
#include "common/scheduler/reservation_access.h"
#include "common/slurm/access.h"
#include "common/slurm/policy.h"
#include "common/slurm/priority.h"
#include "common/slurm/tres.h"

namespace gpuadvise {
namespace {

Result<std::vector<size_t>> PartitionsOf(const Snapshot& policy, const JobRequest& request,
                                         const Submitter& submitter) {
  std::vector<std::string> names = request.partitions;
  if (names.empty()) {
    const Partition* standard = DefaultPartition(policy);
    if (standard == nullptr) {
      return Fail(ErrorCode::kNotFound,
                  "this cluster has no default partition; name one with --partition");
    }
    names.push_back(standard->name);
  }
  std::vector<size_t> found;
  for (const std::string& name : names) {
    const Partition* partition = FindPartition(policy, name);
    if (!CanSeePartition(submitter, policy, name)) {
      const std::vector<std::string> known = VisiblePartitions(submitter, policy);
      return Fail(ErrorCode::kNotFound,
                  fmt::format("there is no partition {}{}{}", Quoted(name), DidYouMean(name, known),
                              known.empty() ? "" : "; there are " + JoinNames(known)));
    }
    found.push_back(static_cast<size_t>(partition - policy.partitions.data()));
  }
  return found;
}

ReservationCaller CallerIn(const Snapshot& policy, const Partition& partition,
                           const Submitter& submitter, const Association* association) {
  return {submitter.user, association == nullptr ? submitter.account : association->account,
          EffectiveQos(policy, submitter, association), partition.name};
}

Result<void> CheckReservation(const Snapshot& policy, const Partition& partition,
                              const JobRequest& request, const Submitter& submitter,
                              const Association* association) {
  const auto found =
      std::find_if(policy.reservations.begin(), policy.reservations.end(),
                   [&](const Reservation& r) { return r.name == request.reservation; });
  if (request.reservation.empty() || found == policy.reservations.end()) return {};
  const ReservationCaller caller = CallerIn(policy, partition, submitter, association);
  if (Admits(*found, caller)) return {};
  return Fail(ErrorCode::kInfeasible,
              fmt::format("user {1} with account '{2}' may not use reservation '{0}'", found->name,
                          submitter.user, caller.account));
}

// One option for the request; checks access and limits.
Result<PartitionOption> OptionIn(const QueueModel& queue, size_t index, const JobRequest& request,
                                 const Submitter& submitter, const EffectiveLimits& authority) {
  const Snapshot& policy = queue.snapshot();
  const Partition& partition = policy.partitions[index];
  if (auto good = CheckAccess(policy, partition, request, submitter, authority); !good) {
    return tl::unexpected(good.error());
  }
  if (auto good = CheckReservation(policy, partition, request, submitter, authority.association);
      !good) {
    return tl::unexpected(good.error());
  }
  auto requirements =
      ResolveRequirements(queue.pool(), policy, partition, queue.Members(index), request);
  if (!requirements) return tl::unexpected(requirements.error());
  PartitionOption option;
  option.partition = static_cast<int32_t>(index);
  option.requirements = std::make_shared<const GroupRequirements>(
      queue.groups().SpreadOverGroups(queue.pool(), *requirements));
  option.duration = requirements->duration;
  option.earliest = requirements->earliest;
  option.latest = requirements->latest;
  option.preempt_class =
      queue.preemption().ClassOf(index, EffectiveQos(policy, submitter, authority.association));
  return option;
}

// Options in MAGNETIC reservations that attract the request, in partition `index`.
void AddMagneticOptions(const QueueModel& queue, size_t index, const JobRequest& request,
                        const Submitter& submitter, const EffectiveLimits& authority,
                        std::vector<PartitionOption>& options) {
  const Snapshot& policy = queue.snapshot();
  if (policy.reservations.empty() || !request.reservation.empty()) return;
  const ReservationCaller caller =
      CallerIn(policy, policy.partitions[index], submitter, authority.association);
  for (const std::string& magnet : MagnetsFor(policy, caller)) {
    JobRequest inside = request;
    inside.reservation = magnet;
    auto option = OptionIn(queue, index, inside, submitter, authority);
    if (!option) continue;
    option->magnetic = true;
    options.push_back(std::move(*option));
  }
}

}  // namespace

tl::unexpected<Error> NeverFreeError(const QueueModel& queue, const PendingJob& job) {
  const auto partition = static_cast<size_t>(job.options.front().partition);
  return Fail(ErrorCode::kInfeasible,
              fmt::format("the nodes, GPUs or limits that this job needs in partition {} are held "
                          "by jobs without a time limit, or by a reservation without an end",
                          queue.snapshot().partitions[partition].name));
}

JobRecord RecordFor(const QueueModel& queue, const JobRequest& request,
                    const Submitter& submitter) {
  Job job;
  job.user = submitter.user;
  job.uid = submitter.uid;
  job.account = submitter.account;
  job.qos = submitter.qos;
  job.request = request;
  job.submit_time = queue.snapshot().taken_at;
  return RecordOf(job);
}

bool MayLose(const QueueModel& queue, const PendingJob& job) {
  return std::any_of(job.options.begin(), job.options.end(), [&](const PartitionOption& option) {
    return queue.preemption().MayLose(option.preempt_class);
  });
}

Result<PendingJob> MakePendingJob(const QueueModel& queue, const JobRequest& request,
                                  const Submitter& submitter) {
  const Snapshot& policy = queue.snapshot();
  const auto partitions = PartitionsOf(policy, request, submitter);
  if (!partitions) return tl::unexpected(partitions.error());
  if (auto good = queue.licences().Check(request); !good) return tl::unexpected(good.error());
  PendingJob job;
  std::vector<size_t> used;
  std::optional<Error> why_not;
  bool over = false;
  for (const size_t index : *partitions) {
    const Partition& partition = policy.partitions[index];
    const EffectiveLimits authority = FindEffectiveLimits(policy, partition, submitter);
    auto option = OptionIn(queue, index, request, submitter, authority);
    std::vector<PartitionOption> options;
    if (option) options.push_back(std::move(*option));
    AddMagneticOptions(queue, index, request, submitter, authority, options);
    if (options.empty()) {
      if (!why_not) why_not = option.error();
      continue;
    }
    if (job.options.empty() && !queue.fair_shares().empty()) {
      job.usage = {queue.fair_shares().LeafOf(authority.association),
                   UsagePerSecond(RequestTres(request, partition, policy.config), partition,
                                  authority.qos, policy.config)};
    }
    if (job.options.empty() && queue.limits().is_enforced()) {
      job.caps = queue.limits().CountRequest(authority, submitter.user,
                                             RequestTres(request, partition, policy.config), over);
    }
    const int64_t priority =
        PredictPriority(policy, queue.scale(), request, partition, submitter).total;
    job.rank.priority = std::max(job.rank.priority, priority);
    std::move(options.begin(), options.end(), std::back_inserter(job.options));
    used.push_back(index);
  }
  if (job.options.empty()) return tl::unexpected(*why_not);
  for (const LimitUse& use : queue.licences().Count(request)) {
    over = over || use.amount > queue.limits().most()[static_cast<size_t>(use.cap)];
    job.caps.push_back(use);
  }
  job.user = queue.OwnerOf(submitter.user);
  job.association = queue.OwnerOf(AssociationName(submitter.user, submitter.account));
  job.rank = MakeRank(policy, used, !request.reservation.empty(), job.rank.priority, Rank{}.job_id);
  job.after = request.after;
  if (over) return NeverFreeError(queue, job);
  if (queue.past() != nullptr && MayLose(queue, job)) {
    job.run_time = std::make_shared<const RunTimeDistribution>(
        queue.past()->run_times.Of(RecordFor(queue, request, submitter)));
  }
  return job;
}

}  // namespace gpuadvise
