// StartOf: one question about one job that does not exist yet.
//
// Problem. The wait is half of the answer, and it differs for every shape, partition, account and
// QOS the caller could use, because each gets another place in the queue and other nodes.
//
// Idea. In every partition that the request names: may it run there at all (access, limits per job,
// nodes that could serve when empty)? If so, at which place of the queue, by the priority Slurm
// would give it and the partition's tier? Then the earliest interval free at that place, not before
// limits on what user, account and QOS use at the same time let it in. The partition that starts
// it first wins, as in Slurm.
//
// Why not ask Slurm. `sbatch --test-only` ignores pending jobs, takes slurmctld's write locks,
// burns a job id per question and speaks for the calling user only.
//
// Cost. A few µs at seed size once the place's profile is cached; see queue_model.cc.
//
// Where it is wrong. It is the plan at the limits: one sample, so p10 = p50 = p90. Whoever needs a
// distribution draws run times, plays them forward and returns more samples through the same type.
#include "common/start_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <optional>

#include "common/access.h"
#include "common/policy.h"
#include "common/queue_model.h"
#include "common/request_tres.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

/// The start of the request in one partition.
struct Start {
  int64_t time = kNever;
  int64_t priority = 0;
  size_t position = 0;
  size_t partition = 0;
  std::shared_ptr<const std::vector<int32_t>> nodes;  // that could serve
  std::vector<Share> shares;
};

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

/// The earliest time that both the nodes and the limits on use at the same time allow.
Slot FirstSlot(const QueueModel& queue, const JobShape& shape, const Authority& authority,
               const Submitter& submitter, const TresCounts& wanted, size_t position,
               int64_t from) {
  const std::shared_ptr<const Profile> free = queue.FreeAt(position);
  while (true) {
    Slot slot = EarliestStart(queue.pool(), *free, shape, from);
    if (slot.start >= kNever) return slot;
    from = queue.usage().FirstAllowed(authority, submitter, wanted, position, slot.start);
    if (from == slot.start) return slot;
    if (from >= kNever) return {};
  }
}

Result<Start> StartIn(const QueueModel& queue, size_t index, const JobRequest& request,
                      const Submitter& submitter) {
  const Snapshot& policy = queue.policy();
  const Partition& partition = policy.partitions[index];
  const Authority authority = AuthorityOf(policy, partition, submitter);
  if (auto good = CheckAccess(policy, partition, request, submitter, authority); !good) {
    return tl::unexpected(good.error());
  }
  if (auto good = CheckReservation(policy, request, submitter, authority.association); !good) {
    return tl::unexpected(good.error());
  }
  auto shape = ShapeOf(queue.pool(), policy, partition, queue.Members(index), request);
  if (!shape) return tl::unexpected(shape.error());
  Start start;
  start.partition = index;
  start.nodes = shape->nodes;
  start.priority = PredictPriority(policy, queue.scale(), request, partition, submitter).total;
  const Rank rank =
      RankOf(policy, {index}, !request.reservation.empty(), start.priority, Rank{}.job_id);
  start.position = queue.PositionOf(rank);
  const TresCounts wanted =
      queue.usage().keeps_books() ? RequestTres(request, partition, policy.config) : TresCounts{};
  const int64_t from = queue.NotBefore(start.position, index);
  Slot slot = FirstSlot(queue, *shape, authority, submitter, wanted, start.position, from);
  start.time = slot.start;
  start.shares = std::move(slot.shares);
  if (start.time < kNever) return start;
  return Fail(ErrorCode::kInfeasible,
              fmt::format("no end is known of what now holds the nodes, GPUs or limits that this "
                          "job needs in partition {} (jobs without a time limit, or a reservation)",
                          partition.name));
}

/// Planned jobs before `position` that use a node which the request could use too.
int64_t RivalsBefore(const QueueModel& queue, size_t position, const std::vector<int32_t>& nodes) {
  std::vector<bool> mine(queue.pool().nodes().size(), false);
  for (const int32_t node : nodes) mine[static_cast<size_t>(node)] = true;
  int64_t rivals = 0;
  for (size_t i = 0; i < position; ++i) {
    const auto shares = queue.SharesOf(queue.plan()[i]);
    rivals += std::any_of(shares.begin(), shares.end(), [&](const Share& share) {
      return mine[static_cast<size_t>(share.node)];
    });
  }
  return rivals;
}

StartSamples SamplesOf(const QueueModel& queue, const Start& start) {
  StartSamples samples;
  samples.wait_seconds = {start.time};
  samples.priority = start.priority;
  samples.jobs_before = RivalsBefore(queue, start.position, *start.nodes);
  samples.partition = queue.policy().partitions[start.partition].name;
  for (const Share& share : start.shares) {
    samples.nodes.push_back(queue.pool().nodes()[static_cast<size_t>(share.node)].name);
  }
  return samples;
}

}  // namespace

double StartSamples::Quantile(double q) const {
  assert(!wait_seconds.empty() && q >= 0 && q <= 1);
  const double at = q * static_cast<double>(wait_seconds.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, wait_seconds.size() - 1);
  const double share = at - static_cast<double>(below);
  return (1 - share) * static_cast<double>(wait_seconds[below]) +
         share * static_cast<double>(wait_seconds[above]);
}

double StartSamples::Mean() const {
  assert(!wait_seconds.empty());
  return std::accumulate(wait_seconds.begin(), wait_seconds.end(), 0.0) /
         static_cast<double>(wait_seconds.size());
}

std::shared_ptr<const QueueModel> PrepareQueue(const Snapshot& snapshot) {
  return std::make_shared<const QueueModel>(snapshot);
}

Result<StartSamples> StartOf(const QueueModel& queue, const JobRequest& request,
                             const Submitter& submitter) {
  const auto partitions = PartitionsOf(queue.policy(), request);
  if (!partitions) return tl::unexpected(partitions.error());
  std::optional<Start> best;
  std::optional<Error> why_not;
  for (const size_t partition : *partitions) {
    auto start = StartIn(queue, partition, request, submitter);
    if (!start) {
      if (!why_not) why_not = start.error();
    } else if (!best || start->time < best->time) {
      best = std::move(*start);
    }
  }
  if (!best) return tl::unexpected(*why_not);
  return SamplesOf(queue, *best);
}

}  // namespace gpuadvise
