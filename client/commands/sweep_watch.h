// Follows a sweep: how many of its runs have ended, and when the last will. One check at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/commands/watch_status.h"
#include "common/api/sweep.h"

namespace gpuadvise::client {

class SweepWatch {
 public:
  // What to tell of the next look.
  WatchStatus Step(const api::SweepProgress& sweep, int64_t now);

 private:
  std::optional<api::SweepProgress> last_;
  std::optional<int64_t> said_end_;
  int looks_at_end_ = 0;  // of which accounting does not have all runs
};

}  // namespace gpuadvise::client
