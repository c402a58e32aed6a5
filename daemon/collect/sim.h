// The simulated cluster as a source: SimWorld driven by the wall clock.
//
// The world begins at midnight UTC of the day before the source is made. So the first answer shows
// a cluster after at least a day of operation, and a source made again on the same day continues
// the same world. It then advances by `speed` simulated seconds per second; at a speed other than 1
// its times diverge from the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct SimOptions {
  uint64_t seed = 1;
  double speed = 1;           // simulated seconds per real second; > 0
  std::string jobs_dir = {};  // users' jobs (sim_jobs.h), only at speed 1; "": none
};

// Returns the current time.
using WallClock = std::function<UnixSeconds()>;

// Errors: kBadInput if the speed is not positive, or not 1 with a `jobs_dir`.
SourceResult MakeSimSource(const SimOptions& options, WallClock clock);

}  // namespace gpuadvise::collect
