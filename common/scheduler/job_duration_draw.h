// Draws the run times of a queue's jobs jointly: jobs submitted together run alike.
//
// See job_duration_draw.cc for the idea. Pure: the same seed and sample give the same draws.
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
  uint64_t job = 0;                                   // seeds its random numbers
  int32_t burst = -1;                                 // number of its burst; -1: none
  double elapsed = 0;                                 // lower bound of its run time
  const RunTimeDistribution* distribution = nullptr;  // null: not drawn
};

// The same jobs in every sample: work independent of the sample is done once.
class RunTimeDraw {
 public:
  // REQUIRES: the distributions outlive it.
  explicit RunTimeDraw(std::span<const RunTimeQuestion> questions);

  // Total run times in seconds, parallel to the questions; 0 without a distribution.
  void Draw(uint64_t seed, uint64_t sample, std::vector<double>& times);

 private:
  struct Alone {
    size_t question = 0;
    uint64_t job = 0;
    double reached = 0;  // share of such jobs that has ended by now
    const RunTimeDistribution* distribution = nullptr;
  };
  // A burst's job: its normal score and the lower bound of that.
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
  std::vector<Score> in_bursts_;  // grouped by burst
};

// Draws one sample.
std::vector<double> DrawRunTimes(std::span<const RunTimeQuestion> questions, uint64_t seed,
                                 uint64_t sample);

}  // namespace gpuadvise
