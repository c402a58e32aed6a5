// How long jobs have run, and from that how long a job will: see job_duration_history.cc.
//
// `RunTimeHistory` is told of every job that ended, in order of time; `RunTimes` is what it says at
// one moment, with the jobs then running as evidence too. Not thread-safe while it learns; a
// `RunTimes` is immutable and keeps nothing of the history alive.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/history/job_duration_distribution.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Runs of one user that are like a job, from most alike to least: of its name and limit, of its
// partition, size and limit, of its limit, any.
enum class LikeRuns { kName, kShape, kLimit, kUser };
inline constexpr size_t kLikeRuns = 4;

// The runs of one kind that are remembered, at most 40.
struct OwnRuns {
  std::vector<int16_t> bins;  // ascending (RunTimeBin); kRunTimeBins: ended by its limit
  int64_t batches = 0;        // of those; what is submitted within kBurstSeconds is one
};

class RunTimeHistory {
 public:
  RunTimeHistory();

  // A job has run and ended. REQUIRES: start and end are set. One that ended before it started
  // (clocks) is left out.
  void Ended(const JobRecord& job);

  // How long a job of this kind runs in all, without looking at how long it has run already.
  // `running`: jobs that run now, with what they have run so far, as evidence of longer ones.
  RunTimeDistribution Of(const JobRecord& job) const;

  // What of its own user's past `Of(job)` knows, by LikeRuns.
  std::array<OwnRuns, kLikeRuns> OwnRunsOf(const JobRecord& job) const;

  // The mean of the last two run times of the job's user, at most its limit; the limit where the
  // user has none yet. The classic simple predictor (Tsafrir, Etsion, Feitelson 2007). 0: no
  // limit and no history.
  double LastTwo(const JobRecord& job) const;

  // Tells of the jobs that run at `now`, instead of those told before. They count as censored.
  void SetRunning(const std::vector<JobRecord>& running, UnixSeconds now);

  int64_t jobs() const { return jobs_; }

 private:
  static constexpr size_t kLevels = 8;
  static constexpr size_t kEvidenceBuckets = 7;

  // One observed run time.
  struct Seen {
    int16_t bin = 0;          // absolute; kRunTimeBins: ended by the limit
    int16_t below_limit = 0;  // bins below its own limit
    UnixSeconds submit = 0;
  };

  // The last run times of one key, oldest overwritten first.
  struct Recent {
    std::vector<Seen> seen;
    size_t next = 0;
    std::vector<int16_t> running;  // bins that jobs of this key have reached and go on
    void Add(const Seen& one, size_t most);
  };

  struct Level {
    std::unordered_map<std::string, Recent> keys;
    std::array<double, kEvidenceBuckets> share{};   // weight against the levels below
    std::array<double, kEvidenceBuckets> trials{};  // evidence behind it
  };

  void Forget(UnixSeconds before);
  static std::string KeyOf(const JobRecord& job, size_t level);
  static bool IsRelative(size_t level) { return level >= 5; }
  static size_t EvidenceBucket(double evidence);
  double Fill(size_t level, const JobRecord& job, const RunTimeHistogram& below,
              RunTimeHistogram& out) const;
  RunTimeHistogram Prior(int limit_bin) const;
  template <typename Visit>
  RunTimeHistogram Descend(const JobRecord& job, const Visit& visit) const;

  std::array<Level, kLevels> levels_;
  std::unordered_map<std::string, std::array<double, 2>> last_two_;
  std::vector<std::pair<size_t, std::string>> running_keys_;
  int64_t jobs_ = 0;
};

}  // namespace gpuadvise
