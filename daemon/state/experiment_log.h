// The experiment log: which jobs were advised or reported an outcome, and what became of them.
//
// In memory the newest kMaxBytes, of one user the newest kMaxBytesOfOne, each row as its text; in
// the history what HistoryBounds keeps. A job is one's own to report and to read: a row belongs to
// a job id and its user, and nobody's claim touches another's.
//
// A row begins as its user's claim. It is forgotten, in memory and on the disk, as soon as a
// snapshot shows its job as somebody else's, where the bounds leave no room for it, and where after
// kSettleSeconds of watching neither a snapshot nor accounting has shown it; a restart loses
// neither the claim nor that it is one. Safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/history/forecast_history.h"
#include "common/runs/experiment.h"
#include "common/runs/learned_runs.h"
#include "daemon/store/history_writer.h"

namespace gpuadvise::daemon {

// A sweep of one user, from what was reported of its arrays.
struct KnownSweep {
  int64_t job_id = 0;  // of its first array, which names it
  int64_t uid = -1;
  std::string user, name;
  UnixSeconds submitted_at = 0;  // the first
  std::vector<int64_t> arrays;   // their job ids, in the order of submission
  int64_t runs = 0;
  int64_t moved = 0;
};

class ExperimentLog {
 public:
  static constexpr int64_t kMaxBytes = kLoadedExperimentBytes;
  static constexpr int64_t kMaxBytesOfOne = kLoadedExperimentBytesOfOne;
  static constexpr size_t kMostUnseenOfOne = 1'000;
  static constexpr int kPollsUntilForgotten = 3;  // that do not show a claimed job

  // Slurm accounts for a job within minutes of its end; accounting is asked every ten minutes. Time
  // in which the daemon was down does not count.
  static constexpr int64_t kSettleSeconds = 3'600;

  // REQUIRES: `history` outlives it. `settle_seconds`: instead of kSettleSeconds, where accounting
  // is asked less often.
  explicit ExperimentLog(HistoryWriter& history, int64_t settle_seconds = kSettleSeconds)
      : history_(history), settle_seconds_(settle_seconds) {}

  // What the history knows, within the bounds. Blocks; what is asked for meanwhile is looked up.
  void Load();

  // A job that was advised has been submitted. `shown`: Slurm shows it as the user's, and
  // `submitted_at` is its time of submission. Nothing happens where the log has this advice for it
  // already.
  void AddSubmitted(Experiment experiment, bool shown);

  // `outcome` of the caller's job. `otherwise`: what the job is where nobody advised it (from the
  // queue); nullopt: it is not known. Errors: kNotFound where the job is not the caller's. Blocks
  // where the job is not in memory.
  Result<void> Report(Outcome outcome, int64_t uid, std::optional<Experiment> otherwise);

  // What is kept of the user's job, without a look into the history.
  std::optional<Experiment> Kept(int64_t job_id, int64_t uid) const;

  // Of which sweep the user's job, or the array that it is a task of, is a part; 0: of none. Only
  // what is in memory, as for the next.
  int64_t SweepOf(int64_t job_id, int64_t uid) const;

  // nullopt: no array of it is known.
  std::optional<KnownSweep> FindSweep(int64_t sweep, int64_t uid) const;

  // Whether the user has a job of this number. Blocks where it is not in memory.
  bool Knows(int64_t job_id, int64_t uid);

  // What a snapshot shows of claims. `now` by the clock that they were made at. May block.
  void OnSnapshot(const Snapshot& snapshot, UnixSeconds now);

  // Slurm's times of jobs.
  void OnJobsChanged(const std::vector<PastJob>& jobs);

  // Looks in the history for ends that nobody saw, of each user's newest jobs, and learns from
  // them. Blocks.
  void CatchUp();

  // The caller's, the newest first, with the times that the history knows. Blocks.
  std::vector<Experiment> NewestOfUser(int64_t uid, size_t limit);
  std::optional<Experiment> Find(int64_t job_id, int64_t uid);

  // What all of it teaches.
  std::shared_ptr<const LearnedRuns> learned() const;

  struct Held {
    size_t rows = 0;
    int64_t bytes = 0;
  };
  Held held() const;

 private:
  using Key = std::tuple<UnixSeconds, int64_t, int64_t>;  // submission, job id, uid
  using Owned = std::pair<int64_t, int64_t>;              // job id, uid

  // A row of which so much is looked at often; the rest is in its text.
  struct Row {
    std::string user, advice_id, family, name;
    SweepPart sweep;
    JobTimes times;
    std::vector<RunFact> facts;
    std::string text;
    bool seen = false;  // Slurm has shown it
    int polls_without = 0;

    int64_t bytes() const;
  };
  struct OfUser {
    std::set<Key> keys;
    size_t unseen = 0;
    int64_t bytes = 0;
  };

  static Row RowFrom(const Experiment& experiment, bool seen);
  static Experiment LightOf(const Key& key, const Row& row);  // without what only its text says
  static Experiment WholeOf(const Row& row);

  bool Recall(int64_t job_id, int64_t uid);              // mutex_ not held; whether it is in memory
  const Row* Newest(int64_t job_id, int64_t uid) const;  // REQUIRES: mutex_ held, like those below
  void Put(const Experiment& experiment, bool seen);
  void KeepWithinBounds(const Key& newcomer);
  void Forget(const Key& key);  // in memory
  void Drop(const Key& key);    // and on the disk
  void Write(const Key& key);
  void Learn(const std::string& family);
  // mutex_ not held, both. Whether the history could be asked.
  bool CompleteTimes(std::vector<Experiment>& experiments);
  void DropUnlessRecorded(const std::vector<Key>& keys);

  HistoryWriter& history_;
  const int64_t settle_seconds_;
  mutable std::mutex mutex_;
  std::map<Key, Row> kept_;
  std::map<Owned, UnixSeconds> newest_;  // submission of each job id's last use
  std::map<int64_t, OfUser> of_user_;
  std::map<std::string, std::set<Key>> of_family_;
  std::map<Owned, std::set<Key>> of_sweep_;  // by the sweep's job id and uid; its arrays
  std::set<Key> unseen_;
  std::optional<UnixSeconds> watching_since_;  // the first snapshot
  int64_t bytes_ = 0;

  mutable std::mutex learned_mutex_;  // held for a copy of the pointer only
  std::shared_ptr<const LearnedRuns> learned_ = std::make_shared<LearnedRuns>();
};

}  // namespace gpuadvise::daemon
