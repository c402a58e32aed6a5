#include "common/scheduler/insertion.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/words.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/job_requirements.h"
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
    if (!KnowsPartition(submitter, policy, name)) {
      const std::vector<std::string> known = PartitionsToldTo(submitter, policy);
      return Fail(ErrorCode::kNotFound,
                  fmt::format("there is no partition {}{}{}", Quoted(name), DidYouMean(name, known),
                              known.empty() ? "" : "; there are " + JoinNames(known)));
    }
    found.push_back(static_cast<size_t>(partition - policy.partitions.data()));
  }
  return found;
}

Result<void> CheckReservation(const Snapshot& policy, const JobRequest& request,
                              const Submitter& submitter, const Association* association) {
  const auto found =
      std::find_if(policy.reservations.begin(), policy.reservations.end(),
                   [&](const Reservation& r) { return r.name == request.reservation; });
  if (request.reservation.empty() || found == policy.reservations.end()) return {};
  const std::string& account = association == nullptr ? submitter.account : association->account;
  const auto admits = [](const std::vector<std::string>& names, const std::string& name) {
    if (names.empty()) return true;
    if (names.front().starts_with("-")) {  // a list of those who may not
      return std::find(names.begin(), names.end(), "-" + name) == names.end();
    }
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (admits(found->users, submitter.user) && admits(found->accounts, account)) return {};
  return Fail(ErrorCode::kInfeasible,
              fmt::format("reservation '{}' is not for user {} with account '{}'", found->name,
                          submitter.user, account));
}

// One way to run the request; who may run it and how is checked on the way.
Result<PartitionOption> WayIn(const QueueModel& queue, size_t index, const JobRequest& request,
                              const Submitter& submitter, const EffectiveLimits& authority) {
  const Snapshot& policy = queue.snapshot();
  const Partition& partition = policy.partitions[index];
  if (auto good = CheckAccess(policy, partition, request, submitter, authority); !good) {
    return tl::unexpected(good.error());
  }
  if (auto good = CheckReservation(policy, request, submitter, authority.association); !good) {
    return tl::unexpected(good.error());
  }
  auto requirements = ShapeOf(queue.pool(), policy, partition, queue.Members(index), request);
  if (!requirements) return tl::unexpected(requirements.error());
  PartitionOption option;
  option.partition = static_cast<int32_t>(index);
  option.requirements = std::make_shared<const GroupRequirements>(
      queue.groups().ShapeOn(queue.pool(), *requirements));
  option.duration = requirements->duration;
  option.earliest = requirements->earliest;
  option.latest = requirements->latest;
  option.preempt_class =
      queue.preemption().ClassOf(index, EffectiveQos(policy, submitter, authority.association));
  return option;
}

}  // namespace

tl::unexpected<Error> NeverFree(const QueueModel& queue, const PendingJob& job) {
  const auto partition = static_cast<size_t>(job.options.front().partition);
  return Fail(ErrorCode::kInfeasible,
              fmt::format("no end is known of what now holds the nodes, GPUs or limits that this "
                          "job needs in partition {} (jobs without a time limit, or a reservation)",
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

Result<PendingJob> InsertedInto(const QueueModel& queue, const JobRequest& request,
                                const Submitter& submitter) {
  const Snapshot& policy = queue.snapshot();
  const auto partitions = PartitionsOf(policy, request, submitter);
  if (!partitions) return tl::unexpected(partitions.error());
  PendingJob job;
  std::vector<size_t> used;
  std::optional<Error> why_not;
  bool over = false;
  for (const size_t index : *partitions) {
    const Partition& partition = policy.partitions[index];
    const EffectiveLimits authority = EffectiveLimitsOf(policy, partition, submitter);
    auto option = WayIn(queue, index, request, submitter, authority);
    if (!option) {
      if (!why_not) why_not = option.error();
      continue;
    }
    if (job.options.empty() && queue.limits().keeps_books()) {
      job.caps = queue.limits().CountRequest(authority, submitter.user,
                                             RequestTres(request, partition, policy.config), over);
    }
    const int64_t priority =
        PredictPriority(policy, queue.scale(), request, partition, submitter).total;
    job.rank.priority = std::max(job.rank.priority, priority);
    job.options.push_back(std::move(*option));
    used.push_back(index);
  }
  if (job.options.empty()) return tl::unexpected(*why_not);
  job.rank = RankOf(policy, used, !request.reservation.empty(), job.rank.priority, Rank{}.job_id);
  if (over) return NeverFree(queue, job);
  if (queue.past() != nullptr && MayLose(queue, job)) {
    job.run_time = std::make_shared<const RunTimeDistribution>(
        queue.past()->run_times.Of(RecordFor(queue, request, submitter)));
  }
  return job;
}

}  // namespace gpuadvise
