// State that survives a restart: every job seen or accounted for, with its forecast and outcome, in
// one SQLite file or on a PostgreSQL server (docs/site-guide.md).
//
// How much it may hold is bounded (HistoryBounds): of the experiment log who has most loses their
// oldest rows, then the oldest jobs go. Freed pages are used again or given back to the disk.
//
// It is a cache of what Slurm's accounting knows plus our own forecasts, so nothing about it is
// fatal: a file that is torn or was written by a newer version is set aside under another name and
// a new one begun; tables of a newer version in a server stay, and are refused. One row a job,
// written whole in one transaction per snapshot; killed at any moment, what was committed is there
// and nothing is half there (WAL).
// Blocking. Not thread-safe: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/history/forecast_history.h"
#include "daemon/base/postgres_url.h"
#include "daemon/store/history_database.h"
#include "daemon/store/history_file.h"
#include "daemon/store/history_rows.h"
#include "daemon/store/postgres_database.h"

namespace gpuadvise::daemon {

// Age and number of jobs kept with learning data; older ones keep only the bare facts.
inline constexpr int64_t kDetailSeconds = int64_t{30} * 86'400;
inline constexpr int64_t kDetailJobs = 10'000;

// Most jobs read back, the newest.
inline constexpr int64_t kLoadedJobs = 50'000;

// Bytes of the experiment log read back: in total, and per user.
inline constexpr int64_t kLoadedExperimentBytes = int64_t{64} << 20;
inline constexpr int64_t kLoadedExperimentBytesOfOne = int64_t{8} << 20;

struct HistoryInfo {
  std::string file;       // or the server, without its password
  int64_t bytes = 0;      // on disk, with its log
  int64_t max_bytes = 0;  // HistoryBounds::bytes; 0: not known
  int64_t jobs = 0;
  std::optional<UnixSeconds> oldest;  // submissions
  std::optional<UnixSeconds> newest;
};

// "FILE, 3.2 MB, 1,204 jobs, the oldest of 12 days ago"
std::string HistoryInWords(const HistoryInfo& info, UnixSeconds now);

class History {
 public:
  // Opens or begins `state_dir`/history.db, and makes the folder if need be.
  // Errors: kUnavailable, naming folder or file and the remedy: it cannot be made or written, lies
  // on a network file system, or another daemon uses it. What was set aside is in set_aside().
  static Result<std::unique_ptr<History>> Open(const std::string& state_dir, UnixSeconds now,
                                               const HistoryBounds& bounds = {});

  // In a server, where tables are made if need be. nullptr: another daemon uses it. Errors:
  // kUnavailable, naming the server and the remedy.
  static Result<std::unique_ptr<History>> OpenPostgres(const PostgresPlace& place,
                                                       const HistoryBounds& bounds = {});

  ~History();

  // Why a file that was there is not used, and where it lies now; "" when nothing was set aside.
  const std::string& set_aside() const { return set_aside_; }

  // Between the two somebody waits for an answer: what a server takes long for fails then.
  void BeginUrgent() { database_->SetUrgent(true); }
  void EndUrgent() { database_->SetUrgent(false); }

  // Whether it can be read now.
  Result<void> Check() const;

  // HistoryDatabase::IsShared and IsTaken.
  bool IsShared() const { return database_->IsShared(); }
  bool IsTaken() const { return database_->IsTaken(); }

  // All of `jobs` or none. A row of the same job id and submission is replaced.
  // Errors: kUnavailable (the disk is full, the file is gone); the history can still be used.
  Result<void> Save(const std::vector<PastJob>& jobs);

  // What accounting says: adds jobs that are not there, and to those that are, starts and ends.
  // How many that ran nobody had seen end.
  Result<int64_t> Complete(const std::vector<JobRecord>& jobs);

  // The newest kLoadedJobs jobs, in the order of submission. Rows that cannot be read are left
  // out and counted in `unreadable`.
  Result<std::vector<PastJob>> Load(int64_t& unreadable) const;

  // Tells `take` of every job with GPUs, in no order: number, submission, GPUs, times and whether
  // it was lost; nothing else of it is set. Reads a million rows in seconds and keeps none.
  Result<void> ForEachUsage(const std::function<void(const PastJob&)>& take) const;

  // All of `experiments` or none; a row of the same job, owner and submission is replaced, or
  // forgotten. Whoever has more than their bytes loses their oldest, then who has most of all.
  Result<void> Save(const std::vector<KeptExperiment>& experiments);

  // Tells `take` of the experiments, the newest first, one at a time: of each user so many bytes,
  // and so many of all. What is beyond is not read.
  Result<void> EachExperiment(const std::function<void(KeptExperiment)>& take) const;

  // The newest of this job and owner.
  Result<std::optional<KeptExperiment>> FindExperiment(int64_t job_id, int64_t uid) const;

  // What is known of these jobs, in the order of submission.
  Result<std::vector<JobRecord>> RecordsOf(const std::vector<int64_t>& job_ids) const;

  // Tasks of one array that have begun and ended, by accounting's word for it; one that went back
  // into the queue counts each time.
  struct EndedTasks {
    int64_t completed = 0;
    int64_t failed = 0;  // every other end
  };
  // Of the tasks of `arrays` that were submitted since `since`.
  Result<EndedTasks> EndedTasksOf(const std::vector<int64_t>& arrays, UnixSeconds since) const;

  // One that ran, as sums over accounts and users need it.
  struct Run {
    std::string user;
    std::string account;
    std::string gpu;  // GRES type
    int64_t gpus = 0;
    UnixSeconds eligible = 0;
    UnixSeconds start = 0;
    UnixSeconds end = 0;
  };
  // Tells `take` of every job with GPUs that ran and ended after `since`, in no order, until it
  // says false; `user` "": everybody's. Keeps none.
  Result<void> EachRun(UnixSeconds since, const std::string& user,
                       const std::function<bool(const Run&)>& take) const;

  // Forgets jobs submitted before `before`, of the experiment log claims that Slurm has not shown
  // from before `claims_before`, what is too old to learn from, and the oldest of what is beyond
  // the bounds; gives free pages back to the disk.
  Result<void> Prune(UnixSeconds before, UnixSeconds now, UnixSeconds claims_before = 0);

  // Whether more pages hold something than the bounds allow.
  bool IsOverBounds() const;

  // A value under a name, for what has to be known at the next start; nullopt: never set.
  Result<void> Note(const std::string& name, int64_t value);
  Result<std::optional<int64_t>> Noted(const std::string& name) const;

  Result<HistoryInfo> Info() const;

  // Of the history in `state_dir` without opening it for writing; nullopt: there is none.
  static Result<std::optional<HistoryInfo>> InfoOf(const std::string& state_dir);
  static Result<std::optional<HistoryInfo>> InfoOf(const PostgresPlace& place);

 private:
  History(std::unique_ptr<HistoryDatabase> database, std::string set_aside,
          const HistoryBounds& bounds);
  static Result<std::unique_ptr<History>> With(std::unique_ptr<HistoryDatabase> database,
                                               std::string set_aside, const HistoryBounds& bounds);

  void CountExperiments();  // all four throw DatabaseFailure
  void DeleteOldestExperiment(int64_t uid);
  void KeepExperimentsWithinBounds();
  void KeepJobsWithinBounds();

  const std::unique_ptr<HistoryDatabase> database_;
  const std::string set_aside_;
  const HistoryBounds bounds_;
  std::map<int64_t, int64_t> experiment_bytes_of_;  // uid -> bytes in the experiment log
  int64_t experiment_bytes_ = 0;
};

}  // namespace gpuadvise::daemon
