// Writes the history on its own thread, so that nothing else waits for a disk.
//
// What is handed over is written soon, in order; of a row of the experiment log the newest. While
// the disk is full or the file gone, up to kMostWaiting jobs and kMostExperimentBytesWaiting of the
// log wait for it and the rest is forgotten, aloud: of the log the oldest rows of the user who has
// most waiting. Everything else goes on. So it does where the history could not even be opened:
// that is tried again. What waits when the daemon ends is written then.
//
// Where several daemons share a history (daemon/store/postgres_database.h) all but one stand by:
// they look every kHeartbeat whether they can have it. Where its server is away for longer than
// kAloneAfter nobody can say who has it, and all answer, without a history. Safe from any thread.
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

// State of the history.
struct HistoryState {
  std::optional<HistoryInfo> info;  // nullopt: there is none
  std::string problem;              // why it is not kept, or not whole; "" nothing
};

// Events of the history while the daemon runs. Called from a writer thread.
struct HistoryEvents {
  std::function<void()> opened = [] {};  // once, where it was not open at first
  std::function<void()> alone = [] {};   // this daemon stands by no longer, without a history
  std::function<void()> taken = [] {};   // once: another daemon has it, this one writes no more
};

// Between two tries to open it. Each may have copied much of a file to a disk that has no room;
// a server's former holder is back earlier (PostgresDatabase).
inline constexpr std::chrono::seconds kOpenFileAgain{30};
inline constexpr std::chrono::seconds kOpenServerAgain{10};

class HistoryWriter {
 public:
  // Opens the history; called again and again until it can.
  using OpenHistory = std::function<Result<std::unique_ptr<History>>()>;

  // `history` null: nothing is kept, `problem` says why. `retention_seconds`: jobs that were
  // submitted longer ago are forgotten. REQUIRES: `clock` outlives the writer.
  HistoryWriter(std::unique_ptr<History> history, std::string problem, const Clock& clock,
                int64_t retention_seconds, HistoryEvents events = {});
  ~HistoryWriter();

  // Where there is none yet: tries `open` every `pause` until it has worked; what was put meanwhile
  // is written then. `stands_by`: another daemon has it. Call once, before anything is put.
  void KeepTrying(OpenHistory open, std::chrono::seconds pause, bool stands_by = false);

  // Whether another daemon has the history, and this one is to answer nothing.
  bool StandsBy() const { return stands_by_; }

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

  // History::EndedTasksOf; nothing where none will ever be kept. Errors: as RecordsOf.
  Result<History::EndedTasks> EndedTasksOf(const std::vector<int64_t>& arrays, UnixSeconds since);

  // History::EachRun; of a cluster without a history none.
  Result<void> EachRun(UnixSeconds since, const std::string& user,
                       const std::function<bool(const History::Run&)>& take);

  // What accounting says of jobs: History::Complete. Blocks.
  int64_t Complete(const std::vector<JobRecord>& jobs);

  // Everything that is known, with what was put before. Blocks until that is written.
  std::vector<PastJob> Load();

  // History::ForEachUsage, with what was put before; false where that fails or there is no history.
  // Blocks.
  bool ForEachUsage(const std::function<void(const PastJob&)>& take);

  void Note(const std::string& name, int64_t value);
  std::optional<int64_t> Noted(const std::string& name);

  HistoryState state() const;

  // Why a row of the log that was put may be lost when the daemon ends; "" where all of them are on
  // the disk, and where none is to be kept. Waits until they are, for kAnswersPatience at most.
  std::string Trouble();

  // Tries to open at once what KeepTrying() was given; whether there is a history now. Blocks.
  enum class Tried : uint8_t { kOpen, kAnothers, kFailed };
  Tried TryToOpen();

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

  static constexpr std::chrono::seconds kAloneAfter{30};

  // What `read` finds in the history, with what was put before; `none` where none will ever be
  // kept. Errors: kUnavailable.
  template <typename Found, typename Read>
  Result<Found> ForAnswer(Found none, const Read& read);
  std::unique_lock<std::timed_mutex> InTurn();  // not locked: too many wait

  using ExperimentKey = std::tuple<int64_t, UnixSeconds, int64_t>;  // uid, submission, job id
  static ExperimentKey KeyOf(const KeptExperiment& experiment);

  bool WaitForHistory(std::chrono::seconds pause);  // whether it is open now
  void Work();
  bool HasWork() const;  // REQUIRES: mutex_ held
  void WriteWaiting();   // REQUIRES: using_ held, like the next four
  void WriteExperiments();
  void WaitAgain(std::vector<KeptExperiment> experiments);
  void PruneWhenDue();
  void UpdateInfo();  // at size and age
  void Report(const Result<void>& written);
  void KeepWaitingExperimentsBounded();  // REQUIRES: mutex_ held, as for the next
  std::string DescribeDropped() const;   // "" nothing was

  const Clock& clock_;
  const int64_t retention_seconds_;
  const UnixSeconds began_at_;
  const HistoryEvents events_;

  std::timed_mutex using_;  // one at a time uses history_; taken before mutex_
  std::unique_ptr<History> history_;
  OpenHistory open_;
  UnixSeconds pruned_at_ = 0;
  std::atomic<std::chrono::steady_clock::duration> impatient_until_{};  // of its clock
  std::chrono::steady_clock::time_point info_at_;
  std::chrono::steady_clock::duration info_took_{0};

  std::atomic<bool> kept_ = false;       // there is a history, or there may be one
  std::atomic<bool> stands_by_ = false;  // another daemon has it

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable more_;
  std::deque<PastJob> waiting_;
  std::map<ExperimentKey, KeptExperiment> experiments_waiting_;
  std::map<int64_t, int64_t> experiment_bytes_of_;  // uid -> bytes of what waits
  int64_t experiment_bytes_waiting_ = 0;
  std::condition_variable written_more_;
  int64_t put_ = 0;      // rows of the log, ever
  int64_t written_ = 0;  // of these, the first so many
  int64_t forgotten_ = 0;
  int64_t forgotten_experiments_ = 0;
  bool failing_ = false;
  bool stopping_ = false;
  HistoryState state_;

  std::thread thread_;
};

}  // namespace gpuadvise::daemon
