// Past run times, and predictions from them. See job_duration_history.cc.
//
// `RunTimeHistory` takes every ended job in order of time; `RunTimes` is its state at one moment,
// including running jobs as evidence. Not thread-safe while it learns; a `RunTimes` is immutable
// and independent of the history.
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

// Kinds of similar runs of one user, most similar first: same name and limit; same partition, size
// and limit; same limit; any.
enum class LikeRuns { kName, kShape, kLimit, kUser };
inline constexpr size_t kLikeRuns = 4;

// The remembered runs of one kind, at most 40.
struct OwnRuns {
  std::vector<int16_t> bins;  // ascending (RunTimeBin); kRunTimeBins: ended by limit
  int64_t batches = 0;        // of those runs; jobs within kBurstSeconds are one batch
};

// Histograms of all users' jobs by partition and limit, valid until another job ends. A cache for
// questions about many jobs at one moment.
using GeneralRunTimes = std::unordered_map<std::string, RunTimeHistogram>;

class RunTimeHistory {
 public:
  RunTimeHistory();

  // Learns an ended job. REQUIRES: start and end are set. Ignores one that ended before it started
  // (clock errors).
  void Ended(const JobRecord& job);

  // Total run time of such a job, ignoring its elapsed time. `running`: running jobs with elapsed
  // times, as evidence of longer runs.
  RunTimeDistribution Of(const JobRecord& job) const;

  // With a cache `general`, filled on demand; this history must not have changed since.
  RunTimeDistribution Of(const JobRecord& job, GeneralRunTimes& general) const;

  // What `Of(job)` knows from its user's past, by LikeRuns.
  std::array<OwnRuns, kLikeRuns> FindOwnRuns(const JobRecord& job) const;

  // Mean of the user's last two run times, at most its limit; the limit if there are none (Tsafrir,
  // Etsion, Feitelson 2007). 0: neither limit nor history.
  double LastTwo(const JobRecord& job) const;

  // Replaces the running jobs, as of `now`. They count as censored.
  void SetRunning(const std::vector<JobRecord>& running, UnixSeconds now);

  int64_t jobs() const { return jobs_; }

 private:
  static constexpr size_t kLevels = 9;
  static constexpr size_t kGeneralLevel = 7;  // this and higher levels cover all users
  static constexpr size_t kLastUserLevel = 5;
  static constexpr size_t kEvidenceBuckets = 7;

  struct Seen {
    int16_t bin = 0;          // absolute; kRunTimeBins: ended by the limit
    int16_t below_limit = 0;  // bins below its limit
    UnixSeconds submit = 0;
  };

  // The last run times of one key; overwrites the oldest.
  struct Recent {
    std::vector<Seen> seen;
    size_t next = 0;
    std::vector<int16_t> running;  // bins reached by running jobs of this key
    void Add(const Seen& one, size_t most);
  };

  struct Level {
    std::unordered_map<std::string, Recent> keys;
    std::array<double, kEvidenceBuckets> share{};   // weight relative to the levels below
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
  void Descend(const JobRecord& job, size_t from, size_t to, RunTimeHistogram& below,
               const Visit& visit) const;

  std::array<Level, kLevels> levels_;
  std::unordered_map<std::string, std::array<double, 2>> last_two_;
  std::vector<std::pair<size_t, std::string>> running_keys_;
  int64_t jobs_ = 0;
};

}  // namespace gpuadvise
