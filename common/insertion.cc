#include "common/insertion.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/access.h"
#include "common/past.h"
#include "common/policy.h"
#include "common/priority_scale.h"
#include "common/request_tres.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

Result<std::vector<size_t>> PartitionsOf(const Snapshot& policy, const JobRequest& request) {
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
    if (partition == nullptr) {
      std::vector<std::string> known;
      for (const Partition& each : policy.partitions) {
        if (!each.hidden) known.push_back(each.name);
      }
      return Fail(ErrorCode::kNotFound,
                  fmt::format("there is no partition '{}'{}; there are {}", name,
                              DidYouMean(name, known), JoinNames(known)));
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

/// One way to run the request; who may run it and how is checked on the way.
Result<JobWay> WayIn(const QueueModel& queue, size_t index, const JobRequest& request,
                     const Submitter& submitter, const Authority& authority) {
  const Snapshot& policy = queue.snapshot();
  const Partition& partition = policy.partitions[index];
  if (auto good = CheckAccess(policy, partition, request, submitter, authority); !good) {
    return tl::unexpected(good.error());
  }
  if (auto good = CheckReservation(policy, request, submitter, authority.association); !good) {
    return tl::unexpected(good.error());
  }
  auto shape = ShapeOf(queue.pool(), policy, partition, queue.Members(index), request);
  if (!shape) return tl::unexpected(shape.error());
  JobWay way;
  way.partition = static_cast<int32_t>(index);
  way.shape = std::make_shared<const GroupShape>(queue.groups().ShapeOn(queue.pool(), *shape));
  way.duration = shape->duration;
  way.earliest = shape->earliest;
  way.latest = shape->latest;
  way.preempt_class =
      queue.preemption().ClassOf(index, EffectiveQos(policy, submitter, authority.association));
  return way;
}

}  // namespace

tl::unexpected<Error> NeverFree(const QueueModel& queue, const PendingJob& job) {
  const auto partition = static_cast<size_t>(job.ways.front().partition);
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
  return std::any_of(job.ways.begin(), job.ways.end(), [&](const JobWay& way) {
    return queue.preemption().MayLose(way.preempt_class);
  });
}

Result<PendingJob> InsertedInto(const QueueModel& queue, const JobRequest& request,
                                const Submitter& submitter) {
  const Snapshot& policy = queue.snapshot();
  const auto partitions = PartitionsOf(policy, request);
  if (!partitions) return tl::unexpected(partitions.error());
  PendingJob job;
  std::vector<size_t> used;
  std::optional<Error> why_not;
  bool over = false;
  for (const size_t index : *partitions) {
    const Partition& partition = policy.partitions[index];
    const Authority authority = AuthorityOf(policy, partition, submitter);
    auto way = WayIn(queue, index, request, submitter, authority);
    if (!way) {
      if (!why_not) why_not = way.error();
      continue;
    }
    if (job.ways.empty() && queue.limits().keeps_books()) {
      job.caps = queue.limits().CountRequest(authority, submitter.user,
                                             RequestTres(request, partition, policy.config), over);
    }
    const int64_t priority =
        PredictPriority(policy, queue.scale(), request, partition, submitter).total;
    job.rank.priority = std::max(job.rank.priority, priority);
    job.ways.push_back(std::move(*way));
    used.push_back(index);
  }
  if (job.ways.empty()) return tl::unexpected(*why_not);
  job.rank = RankOf(policy, used, !request.reservation.empty(), job.rank.priority, Rank{}.job_id);
  if (over) return NeverFree(queue, job);
  if (queue.past() != nullptr && MayLose(queue, job)) {
    job.run_time = std::make_shared<const RunTimeDistribution>(
        queue.past()->run_times.Of(RecordFor(queue, request, submitter)));
  }
  return job;
}

}  // namespace gpuadvise
