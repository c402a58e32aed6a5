// `gpuadvise-outcome.json` in a training's output folder: written and read
// (common/training/outcome.h).
//
// The folder may be anybody's, and so may what lies in it: only a regular file of the caller's own
// is read, links are not followed, and nothing that is there makes a reader wait.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "common/training/outcome.h"

namespace gpuadvise::client {

inline constexpr const char* kOutcomeFile = "gpuadvise-outcome.json";

// Writes `folder`/gpuadvise-outcome.json, whole or not at all. One of another job that lies there
// is kept as gpuadvise-outcome-JOBID.json. Errors: kUnavailable, naming the file and what is
// wrong.
Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder);

// Writes `folder`/gpuadvise-outcome-UID-JOBID-XXXXXX.json for others to read: the site's folder
// for what no socket takes. Errors: as above.
Result<void> LeaveOutcome(const Outcome& outcome, const std::string& folder);

// The file at `path`, which must belong to `owner`. Errors: kNotFound where there is none,
// kBadInput where it is no outcome, somebody else's, no regular file or too long; none of them
// names the file.
Result<Outcome> ReadOutcomeFile(const std::string& path, uid_t owner);

// What the file in `folder` says of the same job before Slurm put it back into the queue, which it
// has done `restarts` times; empty where it says nothing, or of another run in the same job.
std::vector<Attempt> EarlierAttempts(const std::string& folder, int64_t job_id, int64_t restarts);

// Tells what becomes of a run while it goes on and when it has ended: to the file in its output
// folder, and to the daemon where that can be reached.
//
// Reaching it is tried quickly and given up quickly: the training's output must not wait. A daemon
// or relay that is away or slow is asked again after one minute, two, four, up to 16; each report
// says all that the ones before it said, so none has to be kept. The last is tried three times
// where an earlier one was heard: a node without a socket keeps no job waiting. What the daemon
// does not hear, `gpuadvise jobs` finds in the file. Used by one thread.
class OutcomeReport {
 public:
  // Sends an outcome to the daemon. Errors: kUnavailable where none listens.
  using Send = std::function<Result<void>(const Outcome&)>;

  // `folder` is the run's own, `site_folder` the site's for what the daemon does not hear ("":
  // none); `clock` gives steady seconds; `pause` waits for so many.
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

  // Of a run that goes on: once a minute is enough.
  void Progress(const Outcome& outcome);

  // Of a run that has ended. Errors: the file cannot be written, and nobody else heard of it.
  Result<void> End(const Outcome& outcome);

 private:
  bool Sent(const Outcome& outcome);

  std::string folder_;
  std::string site_folder_;
  Send send_;
  std::function<double()> clock_;
  std::function<void(double)> pause_;
  bool heard_ = false;   // a report, once at least
  double wait_ = 0;      // seconds between two tries; 0: the last one was heard at once
  double next_try_ = 0;  // by the clock, where there is a wait
};

}  // namespace gpuadvise::client
