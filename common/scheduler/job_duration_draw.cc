// Correlated run times.
//
// Problem. Ten jobs of one array differ by a few per cent among themselves, but by hours from their
// user's earlier jobs. Independent draws spread their ends evenly, and the queue behind them looks
// certain. In fact they all end early or all end late.
//
// Idea. A Gaussian copula: each job keeps its own distribution; normal scores of jobs in one burst
// share a component, z = sqrt(rho) z_burst + sqrt(1 - rho) e. A running job's score exceeds that of
// its elapsed time. This informs z_burst and with it the other jobs of the burst, started or not.
// The posterior has no closed form; a few Gibbs sweeps draw from it (z_burst given the scores is
// normal; a score given z_burst is a truncated normal).
//
// rho. Correlation of normal scores of consecutive jobs of a burst, over their variance: .62 and
// .49 on two lab days; .59, .38 and .70 on logs of Curie (hybrid, fat) and Graham.
//
// Cost. About 0.2 µs per job and sweep. Finished jobs of the burst are already in the distribution
// (common/history/job_duration_history.cc).
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

constexpr double kNoBound = -1e9;

// Draws from a normal truncated below at `least`, by inversion.
double Truncated(double mean, double sigma, double least, double u) {
  const double below = least < -1e8 ? 0 : NormalCdf((least - mean) / sigma);
  if (below > 1 - 1e-9) return least;
  const double p = std::clamp(below + (1 - below) * u, kEdge, 1 - kEdge);
  return std::max(mean + sigma * NormalQuantile(p), least);
}

}  // namespace

// Uniform random numbers of one burst.
class RunTimeDraw::Stream {
 public:
  Stream(uint64_t seed, uint64_t sample, uint64_t key) : seed_(seed), sample_(sample), key_(key) {}
  double Next() { return DrawUniform(seed_ + 0x5bd1e995, sample_, MixBits(key_) + ++count_); }

 private:
  uint64_t seed_;
  uint64_t sample_;
  uint64_t key_;
  uint64_t count_ = 0;
};

void RunTimeDraw::DrawBurst(std::span<Score> scores, Stream& stream) {
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

RunTimeDraw::RunTimeDraw(std::span<const RunTimeQuestion> questions)
    : questions_(questions.size()) {
  for (size_t i = 0; i < questions.size(); ++i) {
    const RunTimeQuestion& question = questions[i];
    if (question.distribution == nullptr) continue;
    const double reached = question.elapsed > 0 ? question.distribution->Cdf(question.elapsed) : 0;
    if (question.burst < 0) {
      alone_.push_back({i, question.job, reached, question.distribution});
      continue;
    }
    const double least =
        reached > 0 ? NormalQuantile(std::clamp(reached, kEdge, 1 - kEdge)) : kNoBound;
    in_bursts_.push_back(
        {question.burst, i, question.job, question.elapsed, question.distribution, least, 0});
  }
  std::stable_sort(in_bursts_.begin(), in_bursts_.end(),
                   [](const Score& a, const Score& b) { return a.burst < b.burst; });
}

void RunTimeDraw::Draw(uint64_t seed, uint64_t sample, std::vector<double>& times) {
  times.assign(questions_, 0);
  for (const Alone& one : alone_) {
    const double u = DrawUniform(seed, sample, one.job);
    times[one.question] = one.distribution->Quantile(one.reached + (1 - one.reached) * u);
  }
  for (auto begin = in_bursts_.begin(); begin != in_bursts_.end();) {
    const auto end = std::find_if(begin, in_bursts_.end(),
                                  [&](const Score& score) { return score.burst != begin->burst; });
    Stream stream(seed, sample, begin->job);
    DrawBurst({begin, end}, stream);
    for (; begin != end; ++begin) {
      times[begin->question] =
          std::max(begin->distribution->Quantile(NormalCdf(begin->z)), begin->elapsed);
    }
  }
}

std::vector<double> DrawRunTimes(std::span<const RunTimeQuestion> questions, uint64_t seed,
                                 uint64_t sample) {
  std::vector<double> times;
  RunTimeDraw(questions).Draw(seed, sample, times);
  return times;
}

}  // namespace gpuadvise
