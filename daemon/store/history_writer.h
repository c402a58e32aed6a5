// Writes the history on a thread of its own, so that nobody waits for a disk.
//
// What is handed over is written soon, in order; of a row of the experiment log the newest. While
// the disk is full or the file gone, up to kMostWaiting jobs and kMostExperimentBytesWaiting of the
// log wait for it and the rest is forgotten, aloud: of the log the oldest rows of the user who has
// most waiting. Everything else goes on. So it does where the history could not even be opened:
// that is tried again (OpenAgainAfter). What waits when the daemon ends is written then. Safe from
// any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/history/forecast_history.h"
#include "daemon/base/clock.h"
#include "daemon/store/history.h"

namespace gpuadvise::daemon {

// How the history is.
struct HistoryState {
  std::optional<HistoryInfo> info;  // nullopt: there is none
  std::string problem;              // why it is not kept, or not whole; "" nothing
};

// How long to wait before the history is opened again: doubling.
struct OpenPauses {
  std::chrono::seconds first;
  std::chrono::seconds at_most;  // whoever mends it does not wait for long
};
// Each try may have copied much of a file to a disk that has no room.
inline constexpr OpenPauses kPausesOfFile{std::chrono::seconds(30), std::chrono::seconds(600)};
inline constexpr OpenPauses kPausesOfServer{std::chrono::seconds(2), std::chrono::seconds(60)};

// After so many failures, from 1.
std::chrono::seconds OpenAgainAfter(const OpenPauses& pauses, int failures);

class HistoryWriter {
 public:
  // Opens the history; called again and again until it can.
  using OpenHistory = std::function<Result<std::unique_ptr<History>>()>;

  // `history` null: nothing is kept, `problem` says why. `retention_seconds`: jobs that were
  // submitted longer ago are forgotten. REQUIRES: `clock` outlives the writer.
  HistoryWriter(std::unique_ptr<History> history, std::string problem, const Clock& clock,
                int64_t retention_seconds);
  ~HistoryWriter();

  // Where there is none yet: tries `open` now and again, and calls `opened` once, from a thread of
  // its own, when it has worked. What was put meanwhile is written then. Call once, before
  // anything is put.
  void KeepTrying(OpenHistory open, const OpenPauses& pauses, std::function<void()> opened);

  void Put(std::vector<PastJob> jobs);

  // Instead of an earlier row of the same job, owner and submission.
  void Put(KeptExperiment experiment);

  // History::EachExperiment and FindExperiment, with what was put before; nothing where there is no
  // history. Block; the second, like all reads below that answers wait for, for seconds at most.
  void EachExperiment(const std::function<void(KeptExperiment)>& take);
  std::optional<KeptExperiment> FindExperiment(int64_t job_id, int64_t uid);

  // History::RecordsOf, with what was put before; nothing where none will ever be kept. Errors:
  // kUnavailable, it cannot be read or not yet. Blocks.
  Result<std::vector<JobRecord>> RecordsOf(const std::vector<int64_t>& job_ids);

  // History::RunsOf and EverybodySince; as above.
  Result<std::vector<JobRecord>> RunsOf(const std::string& user, UnixSeconds since, size_t most);
  Result<History::RanSince> EverybodySince(UnixSeconds from, size_t most);

  // History::EachRun; of a cluster without a history none.
  Result<void> EachRun(UnixSeconds since, const std::string& user,
                       const std::function<bool(const History::Run&)>& take);

  // What accounting says of jobs: History::Complete. Blocks.
  int64_t Complete(const std::vector<JobRecord>& jobs);

  // History::Merge, with what was put before. Errors: also kUnavailable where there is none.
  Result<MergedRows> Merge(const std::string& rows);

  // Everything that is known, with what was put before. Blocks until that is written.
  std::vector<PastJob> Load();

  // History::EachUsage, with what was put before; false where that fails or there is no history.
  // Blocks.
  bool EachUsage(const std::function<void(const PastJob&)>& take);

  void Note(const std::string& name, int64_t value);
  std::optional<int64_t> Noted(const std::string& name);

  HistoryState state() const;

  // Tries to open at once what KeepTrying() was given; whether there is a history now. Blocks.
  bool TryToOpen();

  static constexpr size_t kMostWaiting = 20'000;
  static constexpr int64_t kMostExperimentBytesWaiting = int64_t{64} << 20;

  // Claims that a daemon of this age has not seen settled never will be: they were beyond the
  // bounds of its memory.
  static constexpr int64_t kClaimSeconds = 86'400;

 private:
  // For an answer somebody waits: not longer than this for others who use the history. Where the
  // wait was in vain the next ones do not even begin to.
  static constexpr std::chrono::seconds kAnswersPatience{3};
  static constexpr std::chrono::seconds kImpatience{10};

  // What `read` finds in the history, with what was put before; `none` where none will ever be
  // kept. Errors: kUnavailable.
  template <typename Found, typename Read>
  Result<Found> ForAnswer(Found none, const Read& read);
  std::unique_lock<std::timed_mutex> InTurn();  // not locked: too many wait

  using ExperimentKey = std::tuple<int64_t, UnixSeconds, int64_t>;  // uid, submission, job id
  static ExperimentKey KeyOf(const KeptExperiment& experiment);

  void Work();
  void WriteWaiting();  // REQUIRES: using_ held, like the next four
  void WriteExperiments();
  void WaitAgain(std::vector<KeptExperiment> experiments);
  void ReadAgain();
  void PruneWhenDue();
  void UpdateInfo();  // at size and age
  void Report(const Result<void>& written);
  void KeepWaitingExperimentsBounded();  // REQUIRES: mutex_ held, as for the next
  std::string ForgottenInWords() const;  // "" nothing was

  const Clock& clock_;
  const int64_t retention_seconds_;
  const UnixSeconds began_at_;

  std::timed_mutex using_;  // one at a time uses history_; taken before mutex_
  std::unique_ptr<History> history_;
  OpenHistory open_;
  std::function<void()> opened_;
  UnixSeconds pruned_at_ = 0;
  std::atomic<std::chrono::steady_clock::duration> impatient_until_{};  // of its clock
  std::chrono::steady_clock::time_point info_at_;
  std::chrono::steady_clock::duration info_took_{0};

  std::atomic<bool> kept_ = false;  // there is a history, or there may be one

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable more_;
  std::deque<PastJob> waiting_;
  std::map<ExperimentKey, KeptExperiment> experiments_waiting_;
  std::map<int64_t, int64_t> experiment_bytes_of_;  // uid -> bytes of what waits
  int64_t experiment_bytes_waiting_ = 0;
  int64_t forgotten_ = 0;
  int64_t forgotten_experiments_ = 0;
  bool failing_ = false;
  bool stopping_ = false;
  HistoryState state_;

  std::thread thread_;
};

}  // namespace gpuadvise::daemon
