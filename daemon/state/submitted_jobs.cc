#include "daemon/state/submitted_jobs.h"

#include <fmt/format.h>

#include <algorithm>

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

// Where Slurm is with its ids, as a snapshot shows it.
struct NewestIds {
  int64_t largest = 0;  // 0: it shows no job
  int64_t newest = 0;   // of the newest submission: far below where ids have wrapped
  UnixSeconds newest_submit = 0;
};

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

Result<std::optional<UnixSeconds>> SubmissionOf(int64_t id, int64_t uid, const Snapshot& snapshot,
                                                UnixSeconds now) {
  std::optional<UnixSeconds> submitted_at;
  for (const Job& job : snapshot.jobs) {
    if (id != job.id && id != job.array_job_id && id != job.het_job_id) continue;
    if (job.uid != uid) {
      return Fail(ErrorCode::kNotFound, fmt::format("job {} is not yours", id), "/job_id");
    }
    const UnixSeconds time = job.submit_time.value_or(now);
    submitted_at = std::min(submitted_at.value_or(time), time);
  }
  if (submitted_at) return submitted_at;
  const NewestIds ids = NewestIdsOf(snapshot);
  if (IsPlausible(id, ids, now)) return std::nullopt;
  return Fail(ErrorCode::kNotFound,
              fmt::format("job {} cannot have been submitted just now: the newest job in the queue "
                          "is {}; if it is yours, the next snapshot shows it",
                          id, ids.largest),
              "/job_id");
}

}  // namespace gpuadvise::daemon
