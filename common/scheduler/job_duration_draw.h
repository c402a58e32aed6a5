// Draws how long the jobs of a queue run, all together: jobs submitted together run alike.
//
// See run_time_draw.cc for the idea. Pure: the same seed and sample give the same draws.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/history/job_duration_distribution.h"

namespace gpuadvise {

// One job whose run time is unknown.
struct RunTimeQuestion {
  uint64_t job = 0;    // identifies its random numbers
  int32_t burst = -1;  // jobs of one number were submitted together; -1: alone
  double elapsed = 0;  // it runs at least so long
  const RunTimeDistribution* distribution = nullptr;  // null: not drawn
};

// The same jobs in every sample: what does not depend on it is worked out once.
class RunTimeDraw {
 public:
  // REQUIRES: the distributions outlive it.
  explicit RunTimeDraw(std::span<const RunTimeQuestion> questions);

  // Run times in all, in seconds, parallel to the questions; 0 where there is no distribution.
  void Draw(uint64_t seed, uint64_t sample, std::vector<double>& times);

 private:
  // A job alone.
  struct Alone {
    size_t question = 0;
    uint64_t job = 0;
    double reached = 0;  // the share of such jobs that has ended by now
    const RunTimeDistribution* distribution = nullptr;
  };
  // A job of a burst: its normal score, and the least that this can be.
  struct Score {
    int32_t burst = 0;
    size_t question = 0;
    uint64_t job = 0;
    double elapsed = 0;
    const RunTimeDistribution* distribution = nullptr;
    double least = 0;
    double z = 0;
  };
  class Stream;
  static void DrawBurst(std::span<Score> scores, Stream& stream);

  size_t questions_ = 0;
  std::vector<Alone> alone_;
  std::vector<Score> in_bursts_;  // those of one burst side by side
};

// The same for one sample.
std::vector<double> DrawRunTimes(std::span<const RunTimeQuestion> questions, uint64_t seed,
                                 uint64_t sample);

}  // namespace gpuadvise
