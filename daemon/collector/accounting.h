// Completes the history from Slurm's accounting: at the first start it reads the past, one day per
// page; later it asks at intervals, so that jobs are not missed that started and ended between two
// polls or while the daemon was down.
//
// One `gpuadvise-collect accounting` (one sacct) at a time, with a pause after each. Progress is
// stored in the history, so that a restart continues from there. Runs on its own thread; `Step` is
// one iteration. A site without accounting is asked every interval, but the failure is logged once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/process/run_program.h"
#include "common/slurm/job_record.h"
#include "daemon/base/clock.h"
#include "daemon/store/history_writer.h"

namespace gpuadvise::daemon {

struct AccountingPlan {
  Command command;                                               // without --since and --until
  std::chrono::milliseconds interval{};                          // between passes; 0: never ask
  std::chrono::milliseconds rest{};                              // after each page of the past
  int64_t seed_seconds = int64_t{90} * 86'400;                   // length of the past to read
  std::chrono::milliseconds deadline = std::chrono::minutes(6);  // for one page
};

// Runs `command` and returns its output. Errors: kUnavailable with the cause, also when `stop`
// returned true before the end.
Result<std::string> AskCollector(const Command& command, std::chrono::milliseconds deadline,
                                 const std::function<bool()>& stop);

// Reads the jobs in the output of `gpuadvise-collect accounting`; leaves out unreadable lines.
// Errors: kUnavailable if the output is truncated.
Result<std::vector<JobRecord>> JobsIn(std::string_view printed);

class Accounting {
 public:
  // Calls `learned` after adding jobs that were unknown and `turn` at each iteration, both on its
  // own thread. REQUIRES: all outlive this.
  Accounting(
      AccountingPlan plan, HistoryWriter& history, const Clock& clock,
      std::function<void()> learned, std::function<void()> turn = [] {});
  ~Accounting();

  // Starts the thread.
  void Run();

  // Reads one page, recent jobs first, then the past. Returns the pause until the next.
  std::chrono::milliseconds Step();

  // Why accounting is unavailable; "": available.
  std::string problem() const;

 private:
  bool Ask(UnixSeconds since, UnixSeconds until);
  bool Stopping() const;
  void Report(const Error* error);
  std::optional<std::pair<UnixSeconds, UnixSeconds>> NextOfPast(UnixSeconds now);

  const AccountingPlan plan_;
  HistoryWriter& history_;
  const Clock& clock_;
  const std::function<void()> learned_;
  const std::function<void()> turn_;
  int64_t unlearned_ = 0;  // rows added since `learned_` was called
  int empty_pages_ = 0;    // consecutive, of the past

  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::string problem_;
  std::thread thread_;
};

}  // namespace gpuadvise::daemon
