// Prediction with expert advice.
//
// Problem. On one cluster the simulation is near exact, on the next a policy that no table shows
// defeats it; early on there is no forest, later it is best. Nobody can say beforehand, and it
// differs between jobs that fit now and those that queue.
//
// Idea. A linear pool: F = sum of w_k F_k, in each of three contexts. Its CRPS on log(wait + 60 s)
// is a convex function of the weights, so they follow its gradient by Bernstein online aggregation
// (Wintenberger 2017; the gradient as in Cesa-Bianchi and Lugosi 2006, 2.5). With r_k the pool's
// loss along the gradient less that of expert k, R_k the sum of r_k - eta_k r_k^2 and V_k that of
// r_k^2, the weight is prior_k eta_k exp(eta_k R_k): an expert whose merit is steady gains at the
// rate of its merit, and one whose merit is noise pays for the noise. The rate of each expert,
// proportional to 1 / sqrt(1 + V_k), is learned, so that neither short waits (small losses) nor
// long ones need a rate of their own. Unlike weights from each expert's own loss, the gradient
// finds experts that complete each other: a sharp one with the right median beside a wide one with
// the right tail. What goes right in one context counts a little in the others. An expert that is
// not ready sleeps: the others share its weight, and it keeps its merit.
//
// The world changes. V_k forgets, so that rates do not run dry, and R_k stays so high that an
// expert who was wrong for thousands of jobs rules again after less than 500 on which it is right
// (Herbster and Warmuth 2001: projection). A faster return costs more on real logs than it brings.
//
// Of a job that still waits, the part of the loss that lies below its age is certain and is learned
// at once; the rest when it starts.
//
// Cost. Seven distribution functions on 64 points per job: some µs.
#include "common/history/expert_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuadvise {
namespace {

constexpr double kOffset = 60;
constexpr double kLongest = 60.0 * 86'400;
// Chosen on a FIFO day of a real Slurm, made days and Curie hybrid; docs/forecast.md has what it
// gives on others. From .05 to .3 the rate changes the loss by less than 1.5 % where there are
// thousands of jobs.
constexpr double kRate = 0.1;
constexpr double kForget = 0.99;         // of V with each job
constexpr double kOtherContexts = 0.05;  // as much of a job counts there
constexpr double kShare = 0.002;         // of the weight always follows the prior
constexpr double kLeastShare = 0.01;     // of its prior, against the strongest, keeps any expert

constexpr size_t kCount = kExperts;

// Before anything is known: the simulation rules; what fits now starts now.
constexpr ExpertWeights kPriorFits = {0.40, 0.01, 0.03, 0.01, 0.01, 0.50, 0.04};
constexpr ExpertWeights kPriorQueued = {0.05, 0.03, 0.10, 0.04, 0.08, 0.45, 0.25};

const ExpertWeights& PriorOf(size_t context) {
  return context == static_cast<size_t>(WaitGroup::kFitsNow) ? kPriorFits : kPriorQueued;
}

double Step() { return std::log((kLongest + kOffset) / kOffset) / (kGridPoints - 1); }

// Up to here a wait counts as that of a grid point. Half a step of tolerance: 2 s are no wait.
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

ExpertGrid GridOf(const std::array<WaitDistribution, kExperts>& experts) {
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

ExpertWeights ExpertPool::LogWeights(size_t context) const {
  ExpertWeights logs{};
  for (size_t k = 0; k < kCount; ++k) {
    const double rate = Rate(contexts_[context], k);
    logs[k] = std::log(PriorOf(context)[k] * rate) + rate * contexts_[context].merit[k];
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
    for (size_t k = 0; k < kCount; ++k) {
      if (!ready[k]) continue;
      const double better = share * (mean - gradient[k]);
      // The spread first: no single job may count for more than the rate allows for its size.
      merits.spread[k] = forget * (merits.spread[k] + better * better);
      merits.merit[k] += better - Rate(merits, k) * better * better;
    }
    const ExpertWeights logs = LogWeights(context);
    double most = -std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < kCount; ++k) {
      if (ready[k]) most = std::max(most, logs[k]);
    }
    for (size_t k = 0; k < kCount; ++k) {
      const double least = most + std::log(kLeastShare * PriorOf(context)[k]);
      if (ready[k] && logs[k] < least) merits.merit[k] += (least - logs[k]) / Rate(merits, k);
    }
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
