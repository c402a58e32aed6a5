// Prediction with expert advice.
//
// Problem. On one cluster the simulation is almost exact; on another a hidden policy defeats it.
// Early on there is no forest; later it is best. This cannot be known in advance, and it differs
// between jobs that fit now and queued jobs.
//
// Idea. A linear pool: F = sum of w_k F_k, in each of three contexts. Its CRPS on log(wait + 60 s)
// is convex in the weights, so they follow its gradient by Bernstein online aggregation
// (Wintenberger 2017; the gradient as in Cesa-Bianchi and Lugosi 2006, 2.5). With r_k the pool's
// loss along the gradient minus that of expert k, and V_k the sum of r_k^2, the weight is prior_k
// eta_k exp(sum of eta_k r_k - (eta_k r_k)^2): steady merit is rewarded, noisy merit is penalised.
// Each expert's rate, proportional to 1 / sqrt(1 + V_k), is learned, so short waits (small losses)
// and long ones need no separate rates. Unlike weights from each expert's own loss, the gradient
// finds complementary experts: a sharp one with the right median and a wide one with the right
// tail. Each context also learns a little from the others. An expert that is not ready sleeps: the
// others share its weight, and it keeps its merit.
//
// Change over time. V_k decays, so rates do not vanish. Weights have a floor: an expert that was
// wrong for thousands of jobs can lead again after fewer than 500 on which it is right (Herbster
// and Warmuth 2001: projection). A faster return costs more on real logs than it gains.
//
// For a job that still waits, the loss below its age is certain and learned at once; the rest when
// it starts.
//
// Cost. Seven distribution functions at 64 points per job: a few µs.
#include "common/history/expert_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuadvise {
namespace {

constexpr double kOffset = 60;
constexpr double kLongest = 60.0 * 86'400;
// Chosen on a FIFO day of a real Slurm, on synthetic days and on Curie hybrid; docs/forecast.md has
// results on others. Rates from .1 to .2 change a loss by less than 2 %.
constexpr double kRate = 0.15;
constexpr double kForget = 0.99;         // decay of V per job
constexpr double kOtherContexts = 0.05;  // weight of a job in other contexts
constexpr double kShare = 0.002;         // share of the weight that follows the prior
constexpr double kLeastShare = 0.001;    // floor relative to the strongest

constexpr size_t kCount = kExperts;

// Prior: the simulation leads; what fits now starts now.
constexpr ExpertWeights kPriorFits = {0.40, 0.01, 0.03, 0.01, 0.01, 0.50, 0.04};
constexpr ExpertWeights kPriorQueued = {0.05, 0.03, 0.10, 0.04, 0.08, 0.45, 0.25};

const ExpertWeights& PriorOf(size_t context) {
  return context == static_cast<size_t>(WaitGroup::kFitsNow) ? kPriorFits : kPriorQueued;
}

double Step() { return std::log((kLongest + kOffset) / kOffset) / (kGridPoints - 1); }

// Upper bound of waits counted at a grid point. Half a step of tolerance: 2 s count as no wait.
double UpTo(size_t point) {
  return kOffset * std::exp(Step() * (static_cast<double>(point) + 0.5)) - kOffset;
}

size_t PointsBelow(double seconds) {
  size_t points = 0;
  while (points < kGridPoints && GridSeconds(points) < seconds) ++points;
  return points;
}

size_t Context(WaitGroup group) { return static_cast<size_t>(group); }

}  // namespace

double GridSeconds(size_t point) {
  return kOffset * std::exp(Step() * static_cast<double>(point)) - kOffset;
}

ExpertGrid EvaluateOnGrid(const std::array<WaitDistribution, kExperts>& experts) {
  ExpertGrid grid{};
  for (size_t k = 0; k < kCount; ++k) {
    const std::vector<WeightedWait>& points = experts[k].points();
    double sum = 0;
    size_t next = 0;
    for (size_t i = 0; i < kGridPoints; ++i) {
      while (next < points.size() && points[next].seconds <= UpTo(i)) sum += points[next++].weight;
      grid[k][i] = static_cast<float>(sum);
    }
  }
  return grid;
}

ExpertPool::ExpertPool() {
  for (size_t context = 0; context < contexts_.size(); ++context) {
    for (size_t k = 0; k < kCount; ++k) {
      contexts_[context].log_weight[k] = std::log(PriorOf(context)[k]);
    }
  }
}

// Weight times rate, as in Wintenberger: among equals, steadier experts weigh more.
ExpertWeights ExpertPool::LogWeights(size_t context) const {
  ExpertWeights logs{};
  for (size_t k = 0; k < kCount; ++k) {
    logs[k] = contexts_[context].log_weight[k] + std::log(Rate(contexts_[context], k));
  }
  return logs;
}

double ExpertPool::Rate(const Merits& merits, size_t expert) {
  return kRate * std::sqrt(std::log(static_cast<double>(kCount)) / (1 + merits.spread[expert]));
}

ExpertWeights ExpertPool::Weights(WaitGroup group, const std::array<bool, kExperts>& ready) const {
  const ExpertWeights logs = LogWeights(Context(group));
  const ExpertWeights& prior = PriorOf(Context(group));
  double most = -std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < kCount; ++k) {
    if (ready[k]) most = std::max(most, logs[k]);
  }
  ExpertWeights weights{};
  double sum = 0;
  double prior_sum = 0;
  for (size_t k = 0; k < kCount; ++k) {
    if (!ready[k]) continue;
    weights[k] = std::exp(logs[k] - most);
    sum += weights[k];
    prior_sum += prior[k];
  }
  for (size_t k = 0; k < kCount; ++k) {
    if (ready[k]) weights[k] = (1 - kShare) * weights[k] / sum + kShare * prior[k] / prior_sum;
  }
  return weights;
}

void ExpertPool::Learn(WaitGroup group, const ExpertGrid& experts,
                       const std::array<bool, kExperts>& ready, size_t from, size_t to,
                       double seconds, double weight) {
  for (size_t context = 0; context < contexts_.size(); ++context) {
    Merits& merits = contexts_[context];
    const double share = weight * (context == Context(group) ? 1.0 : kOtherContexts);
    const ExpertWeights used = Weights(static_cast<WaitGroup>(context), ready);
    ExpertWeights gradient{};
    for (size_t i = from; i < to; ++i) {
      double pooled = 0;
      for (size_t k = 0; k < kCount; ++k) pooled += used[k] * static_cast<double>(experts[k][i]);
      const double wrong = pooled - (seconds <= UpTo(i) ? 1.0 : 0.0);
      for (size_t k = 0; k < kCount; ++k) {
        gradient[k] += 2 * Step() * wrong * static_cast<double>(experts[k][i]);
      }
    }
    double mean = 0;
    for (size_t k = 0; k < kCount; ++k) mean += used[k] * gradient[k];
    const double forget = std::pow(kForget, share);
    const double whole = AwakeWeight(merits, ready);
    for (size_t k = 0; k < kCount; ++k) {
      if (!ready[k]) continue;
      const double better = share * (mean - gradient[k]);
      // Update the spread first: no single job may count for more than the rate allows.
      merits.spread[k] = forget * (merits.spread[k] + better * better);
      const double gain = Rate(merits, k) * better;
      merits.log_weight[k] += gain - gain * gain;
    }
    Lift(merits, ready);
    const double grown = std::log(AwakeWeight(merits, ready) / whole);
    for (size_t k = 0; k < kCount; ++k) {
      if (ready[k]) merits.log_weight[k] -= grown;
    }
  }
}

double ExpertPool::AwakeWeight(const Merits& merits, const std::array<bool, kExperts>& ready) {
  double sum = 0;
  for (size_t k = 0; k < kCount; ++k) {
    if (ready[k]) sum += std::exp(merits.log_weight[k]);
  }
  return sum;
}

// Keeps every awake expert above the floor.
void ExpertPool::Lift(Merits& merits, const std::array<bool, kExperts>& ready) {
  double most = -std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < kCount; ++k) {
    if (ready[k]) most = std::max(most, merits.log_weight[k]);
  }
  for (size_t k = 0; k < kCount; ++k) {
    if (!ready[k]) continue;
    merits.log_weight[k] = std::max(merits.log_weight[k], most + std::log(kLeastShare));
  }
}

void ExpertPool::Started(WaitGroup group, const ExpertGrid& experts,
                         const std::array<bool, kExperts>& ready, double seconds, double weight,
                         double known_age_seconds) {
  Learn(group, experts, ready, PointsBelow(known_age_seconds), kGridPoints, seconds, weight);
}

void ExpertPool::StillWaits(WaitGroup group, const ExpertGrid& experts,
                            const std::array<bool, kExperts>& ready, double age_seconds,
                            double weight) {
  Learn(group, experts, ready, 0, PointsBelow(age_seconds), kLongest, weight);
}

}  // namespace gpuadvise
