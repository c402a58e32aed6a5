// Reads and writes `gpuadvise-outcome.json` in a training's output folder (common/runs/outcome.h).
//
// Other users may control the folder and its contents: reads only a regular file of the expected
// owner, follows no links, and never blocks on what is there.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "common/runs/outcome.h"

namespace gpuadvise::client {

inline constexpr const char* kOutcomeFile = "gpuadvise-outcome.json";

// Writes `folder`/gpuadvise-outcome.json atomically. Renames one of another job to
// gpuadvise-outcome-JOBID.json. Errors: kUnavailable, naming the file and the reason.
Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder);

// Writes `folder`/gpuadvise-outcome-UID-JOBID-XXXXXXXX.json, readable for all: the site's folder
// for outcomes that cannot reach the daemon. Errors: as above.
Result<void> LeaveOutcome(const Outcome& outcome, const std::string& folder);

// Reads the file at `path`, which must belong to `owner`. Errors: kNotFound; kBadInput if it is not
// an outcome, another user's, not a regular file or too long. Messages do not name the file.
Result<Outcome> ReadOutcomeFile(const std::string& path, uid_t owner);

// The attempts in the file in `folder` by the same job before Slurm requeued it (`restarts` times);
// empty if there are none, or if they are of another run in the same job.
std::vector<Attempt> EarlierAttempts(const std::string& folder, int64_t job_id, int64_t restarts);

// Reports a run's progress and end to the file in its output folder and, if reachable, to the
// daemon.
//
// Attempts to reach the daemon are short, because the training's output must not wait. After a
// failure it retries after one minute, two, four, up to 16; each report includes all earlier ones,
// so none has to be kept. The last report is tried three times if an earlier one arrived; otherwise
// once, so that a node without a socket delays no job. Outcomes that do not arrive are read from
// the file by `gpuadvise jobs`. Used by one thread.
class OutcomeReport {
 public:
  // Sends an outcome to the daemon. Errors: kUnavailable if none listens.
  using Send = std::function<Result<void>(const Outcome&)>;

  // `folder`: of the run; `site_folder`: the site's, for outcomes that do not reach the daemon ("":
  // none); `clock` returns steady seconds; `pause` waits for the given seconds.
  OutcomeReport(std::string folder, std::string site_folder, Send send,
                std::function<double()> clock, std::function<void(double)> pause)
      : folder_(std::move(folder)),
        site_folder_(std::move(site_folder)),
        send_(std::move(send)),
        clock_(std::move(clock)),
        pause_(std::move(pause)) {}

  static constexpr int kLastTries = 3;
  static constexpr double kFirstWaitSeconds = 60;
  static constexpr double kLongestWaitSeconds = 16 * 60;

  // For a running training; once a minute is enough.
  void Progress(const Outcome& outcome);

  // For a run that has ended. Errors: neither the file nor the daemon took it.
  Result<void> End(const Outcome& outcome);

 private:
  bool Sent(const Outcome& outcome);

  std::string folder_;
  std::string site_folder_;
  Send send_;
  std::function<double()> clock_;
  std::function<void(double)> pause_;
  bool heard_ = false;   // the daemon took at least one report
  double wait_ = 0;      // seconds before the next try; 0: the last one succeeded
  double next_try_ = 0;  // clock time, if `wait_` > 0
};

}  // namespace gpuadvise::client
