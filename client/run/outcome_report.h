// Tells what becomes of a run while it goes on and when it has ended: to the file in its output
// folder, and to the daemon where that can be reached.
//
// Reaching it is tried quickly and given up quickly: the training's output must not wait. What the
// daemon does not hear, `gpuadvise jobs` finds in the file. Used by one thread.
#pragma once

#include <functional>
#include <string>

#include "common/outcome.h"

namespace gpuadvise {

class OutcomeReport {
 public:
  /// Sends an outcome to the daemon. Errors: kUnavailable where none listens.
  using Send = std::function<Result<void>(const Outcome&)>;

  /// `folder` is the run's own, `site_folder` the site's for what the daemon does not hear ("":
  /// none); `clock` gives steady seconds.
  OutcomeReport(std::string folder, std::string site_folder, Send send,
                std::function<double()> clock)
      : folder_(std::move(folder)),
        site_folder_(std::move(site_folder)),
        send_(std::move(send)),
        clock_(std::move(clock)) {}

  /// Of a run that goes on: once a minute is enough.
  void Progress(const Outcome& outcome);

  /// Of a run that has ended. Errors: the file cannot be written, and nobody else heard of it.
  Result<void> End(const Outcome& outcome);

 private:
  bool Sent(const Outcome& outcome);

  std::string folder_;
  std::string site_folder_;
  Send send_;
  std::function<double()> clock_;
  bool slow_ = false;  // the daemon took too long once
};

}  // namespace gpuadvise
