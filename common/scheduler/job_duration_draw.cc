// Which run times go together.
//
// Problem. Ten jobs of one array differ by a few per cent among themselves and by hours from what
// their user ran before. Drawn one by one their ends are spread evenly and the queue behind them
// looks sure; in truth they all end early or all late.
//
// Idea. A Gaussian copula: each job keeps its own distribution, and the normal scores of jobs of
// one burst share a component, z = sqrt(rho) z_burst + sqrt(1 - rho) e. A job that has run for a
// while has a score above that of its elapsed time, which says something about z_burst and so about
// its fellows, also those that have not started. That posterior has no closed form; a few Gibbs
// sweeps (z_burst given the scores is normal, a score given z_burst is a truncated normal) draw
// from it.
//
// rho. Correlation of normal scores of consecutive jobs of a burst, over their variance: .62 and
// .49 on two lab days, .59, .38 and .70 on logs of Curie (hybrid, fat) and Graham.
//
// Cost. Some 0.2 µs per job and sweep. Fellows that have ended are already in the distribution
// (common/history/job_duration_history.cc), not here.
#include "common/scheduler/job_duration_draw.h"

#include <algorithm>
#include <cmath>

#include "common/base/job_random.h"
#include "common/base/statistics.h"

namespace gpuadvise {
namespace {

constexpr double kRho = 0.55;
constexpr int kSweeps = 4;
constexpr double kEdge = 1e-6;

// One job's score and its bound.
struct Score {
  int32_t burst = 0;
  size_t question = 0;
  double least = -1e9;
  double z = 0;
};

// Above `least`, normal around `mean` with deviation `sigma`, by inversion.
double Truncated(double mean, double sigma, double least, double u) {
  const double below = least < -1e8 ? 0 : NormalCdf((least - mean) / sigma);
  if (below > 1 - 1e-9) return least;
  const double p = std::clamp(below + (1 - below) * u, kEdge, 1 - kEdge);
  return std::max(mean + sigma * NormalQuantile(p), least);
}

// A stream of uniforms for one burst.
class Stream {
 public:
  Stream(uint64_t seed, uint64_t sample, uint64_t key) : seed_(seed), sample_(sample), key_(key) {}
  double Next() { return UniformOf(seed_ + 0x5bd1e995, sample_, MixBits(key_) + ++count_); }

 private:
  uint64_t seed_;
  uint64_t sample_;
  uint64_t key_;
  uint64_t count_ = 0;
};

void DrawBurst(std::span<Score> scores, Stream& stream) {
  const bool censored =
      std::any_of(scores.begin(), scores.end(), [](const Score& s) { return s.least > -1e8; });
  const double own = std::sqrt(1 - kRho);
  const double precision = 1 + static_cast<double>(scores.size()) * kRho / (1 - kRho);
  double burst = NormalQuantile(stream.Next());
  for (int sweep = 0; sweep < (censored ? kSweeps : 0); ++sweep) {
    double sum = 0;
    for (Score& score : scores) {
      score.z = Truncated(std::sqrt(kRho) * burst, own, score.least, stream.Next());
      sum += score.z;
    }
    burst = std::sqrt(kRho) / (1 - kRho) * sum / precision +
            NormalQuantile(stream.Next()) / std::sqrt(precision);
  }
  for (Score& score : scores) {
    score.z = Truncated(std::sqrt(kRho) * burst, own, score.least, stream.Next());
  }
}

}  // namespace

std::vector<double> DrawRunTimes(std::span<const RunTimeQuestion> questions, uint64_t seed,
                                 uint64_t sample) {
  std::vector<double> times(questions.size(), 0);
  std::vector<Score> in_bursts;
  for (size_t i = 0; i < questions.size(); ++i) {
    const RunTimeQuestion& question = questions[i];
    if (question.distribution == nullptr) continue;
    const double reached = question.elapsed > 0 ? question.distribution->Cdf(question.elapsed) : 0;
    if (question.burst < 0) {
      const double u = UniformOf(seed, sample, question.job);
      times[i] = question.distribution->Quantile(reached + (1 - reached) * u);
      continue;
    }
    Score score{question.burst, i, -1e9, 0};
    if (reached > 0) score.least = NormalQuantile(std::clamp(reached, kEdge, 1 - kEdge));
    in_bursts.push_back(score);
  }
  std::stable_sort(in_bursts.begin(), in_bursts.end(),
                   [](const Score& a, const Score& b) { return a.burst < b.burst; });
  for (auto begin = in_bursts.begin(); begin != in_bursts.end();) {
    const auto end = std::find_if(begin, in_bursts.end(),
                                  [&](const Score& score) { return score.burst != begin->burst; });
    const std::span<Score> scores(begin, end);
    begin = end;
    Stream stream(seed, sample, questions[scores.front().question].job);
    DrawBurst(scores, stream);
    for (const Score& score : scores) {
      const RunTimeQuestion& question = questions[score.question];
      times[score.question] =
          std::max(question.distribution->Quantile(NormalCdf(score.z)), question.elapsed);
    }
  }
  return times;
}

}  // namespace gpuadvise
