#include "daemon/state/submitted_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "common/slurm/access.h"
#include "common/slurm/policy.h"

namespace gpuadvise::daemon {
namespace {

// Slurm keeps every job that has ended for MinJobAge (300 s) and MaxJobCount (10,000) jobs in all,
// as shipped: so many ids are given between two polls at most, and this many a second where a
// cluster is tuned for throughput (slurm.schedmd.com/high_throughput.html: 500 jobs a second at
// best).
constexpr int64_t kIdSlack = 10'000;
constexpr int64_t kMostIdsASecond = 500;

// A job id has 32 bits in Slurm.
constexpr int64_t kLargestId = 0xffffffff;

int64_t BytesOf(const std::vector<std::string>& names) {
  size_t bytes = 0;
  for (const std::string& name : names) bytes += sizeof(std::string) + name.capacity();
  return static_cast<int64_t>(bytes);
}

int64_t BytesOf(const Job& job) {
  const JobRequest& request = job.request;
  const size_t texts = job.name.capacity() + job.account.capacity() + job.qos.capacity() +
                       request.features.capacity() + request.reservation.capacity();
  return static_cast<int64_t>(sizeof(job) + texts) + BytesOf(request.partitions) +
         BytesOf(request.required_nodes) + BytesOf(request.excluded_nodes);
}

// How many more `limit` lets the user submit, of whose jobs `counts` says which fall under it.
template <typename Counts>
int64_t RoomUnder(SlurmNumber limit, const Snapshot& snapshot, int64_t uid, const Counts& counts) {
  int64_t queued = 0;
  for (const Job& job : snapshot.jobs) {
    if (job.uid != uid || !counts(job)) continue;
    queued += HoldsNodes(job) ? 1 : std::max<int64_t>(job.array_task_count, 1);
  }
  return std::max(limit.value() - queued, std::min(limit.value(), kLeastClaims));
}

tl::unexpected<Error> NotShownYet(int64_t id, int64_t newest) {
  return Fail(ErrorCode::kNotFound,
              fmt::format("job {} cannot have been submitted just now: the newest job in the queue "
                          "is {}; if it is yours, the next snapshot shows it",
                          id, newest),
              "/job_id");
}

}  // namespace

Owners OwnersOf(const Snapshot& snapshot) {
  Owners owners;
  for (const Job& job : snapshot.jobs) {
    for (const int64_t id : {job.id, job.array_job_id, job.het_job_id}) {
      if (id != 0) owners.emplace(id, job.uid);
    }
  }
  return owners;
}

NewestIds NewestIdsOf(const Snapshot& snapshot) {
  NewestIds ids;
  if (snapshot.source == "sim") return ids;  // jobs of its sbatch have numbers of their own
  for (const Job& job : snapshot.jobs) {
    const int64_t shown = std::max({job.id, job.array_job_id, job.het_job_id});
    ids.largest = std::max(ids.largest, shown);
    if (job.submit_time.value_or(0) < ids.newest_submit) continue;
    ids.newest = job.submit_time == ids.newest_submit ? std::max(ids.newest, shown) : shown;
    ids.newest_submit = job.submit_time.value_or(0);
  }
  return ids;
}

bool IsPlausible(int64_t id, const NewestIds& ids, UnixSeconds now) {
  if (id < 1 || id > kLargestId) return false;
  const int64_t since = std::max<int64_t>(now - ids.newest_submit, 0);
  const int64_t slack = kIdSlack + kMostIdsASecond * std::min(since, kLargestId / kMostIdsASecond);
  return ids.largest == 0 || (id >= ids.newest - slack && id <= ids.largest + slack);
}

size_t MostClaims(const Snapshot& snapshot, const Job& job) {
  const Submitter owner{job.uid, job.user, job.account, job.qos};
  const Partition* partition = job.request.partitions.empty()
                                   ? DefaultPartition(snapshot)
                                   : FindPartition(snapshot, job.request.partitions.front());
  if (partition == nullptr || !EnforcedBy(snapshot.config.enforce).limits) return kUsualClaims;
  const EffectiveLimits limits = EffectiveLimitsOf(snapshot, *partition, owner);
  std::optional<int64_t> room;
  const auto take = [&room](int64_t most) { room = std::min(room.value_or(most), most); };
  if (const Association* own = limits.association; own && own->limits.max_submit_jobs.has_value()) {
    take(RoomUnder(own->limits.max_submit_jobs, snapshot, job.uid,
                   [&](const Job& queued) { return queued.account == own->account; }));
  }
  for (const Qos* qos : {limits.partition_qos, limits.qos}) {
    if (qos == nullptr || !qos->limits.max_submit_jobs.has_value()) continue;
    take(RoomUnder(qos->limits.max_submit_jobs, snapshot, job.uid, [&](const Job& queued) {
      return qos == limits.partition_qos || HasFlag(queued.qos, qos->name);
    }));
  }
  return static_cast<size_t>(std::max<int64_t>(room.value_or(kUsualClaims), 0));
}

Result<ClaimNews> SubmittedJobs::Add(Job job, const Snapshot& base, UnixSeconds now) {
  if (const auto owner = owners_.find(job.id); owner != owners_.end()) {
    if (owner->second == job.uid) return ClaimNews::kShown;
    return Fail(ErrorCode::kNotFound, fmt::format("job {} is not yours", job.id), "/job_id");
  }
  const auto same = [&](const Claim& claim) {
    return claim.job.id == job.id && claim.job.uid == job.uid;
  };
  if (std::any_of(claims_.begin(), claims_.end(), same)) return ClaimNews::kRepeated;
  if (!IsPlausible(job.id, ids_, now)) return NotShownYet(job.id, ids_.largest);
  const Held held = HeldByUser()[job.uid];
  const int64_t bytes = BytesOf(job);
  const size_t most = MostOf(base, job);
  if (held.claims >= most || held.bytes + bytes > kMaxBytesOfOne || !MakeRoomFor(job.uid)) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} of your submitted jobs are not in the last snapshot yet, and no "
                            "more are counted; the next snapshot shows them all",
                            held.claims));
  }
  claims_.push_back({std::move(job), bytes, 0});
  return ClaimNews::kNew;
}

std::map<int64_t, SubmittedJobs::Held> SubmittedJobs::HeldByUser() const {
  std::map<int64_t, Held> held;
  for (const Claim& claim : claims_) {
    Held& own = held[claim.job.uid];
    ++own.claims;
    own.bytes += claim.bytes;
  }
  return held;
}

// Whether one more of the user's fits in; whoever has most claims loses their oldest for it.
bool SubmittedJobs::MakeRoomFor(int64_t uid) {
  if (claims_.size() < kMost) return true;
  const std::map<int64_t, Held> held = HeldByUser();
  const auto most = std::max_element(held.begin(), held.end(), [](const auto& a, const auto& b) {
    return a.second.claims < b.second.claims;
  });
  const auto own = held.find(uid);
  if (own != held.end() && own->second.claims >= most->second.claims) return false;
  claims_.erase(std::find_if(claims_.begin(), claims_.end(),
                             [&](const Claim& claim) { return claim.job.uid == most->first; }));
  return true;
}

size_t SubmittedJobs::MostOf(const Snapshot& base, const Job& job) const {
  const auto most = static_cast<int64_t>(MostClaims(base, job));
  const auto unseen = unfounded_.find(job.uid);
  const int64_t left = most - (unseen == unfounded_.end() ? 0 : unseen->second);
  return static_cast<size_t>(std::max(left, std::min(most, kLeastClaims)));
}

void SubmittedJobs::Settle(const Snapshot& snapshot) {
  owners_ = OwnersOf(snapshot);
  ids_ = NewestIdsOf(snapshot);
  for (auto& [uid, died] : unfounded_) --died;
  std::erase_if(unfounded_, [](const auto& user) { return user.second <= 0; });
  std::erase_if(claims_, [&](Claim& claim) {
    const auto owner = owners_.find(claim.job.id);
    if (owner != owners_.end() && owner->second == claim.job.uid) return true;
    if (owner == owners_.end() && ++claim.polls_without < kPollsUntilForgotten) return false;
    ++unfounded_[claim.job.uid];
    return true;
  });
}

std::vector<Job> SubmittedJobs::Jobs() const {
  std::vector<Job> jobs;
  std::unordered_set<int64_t> taken;
  for (auto claim = claims_.rbegin(); claim != claims_.rend(); ++claim) {
    if (taken.insert(claim->job.id).second) jobs.push_back(claim->job);
  }
  return jobs;
}

}  // namespace gpuadvise::daemon
