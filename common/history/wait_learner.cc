// The learned part of the wait forecast: histories, forest, pool and calibration, in order of time.
// See quantile_forest.cc, expert_pool.cc and conformal.cc for the ideas.
#include "common/history/wait_learner.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/job_random.h"
#include "common/base/unix_time.h"
#include "common/history/conformal.h"
#include "common/history/expert_pool.h"
#include "common/history/quantile_forest.h"
#include "common/history/wait_features.h"
#include "common/history/wait_history.h"

namespace gpuadvise {
namespace {

constexpr double kCountedAnew = 1.1;    // age factor between two counts of a job past its p90
constexpr size_t kMostBursts = 20'000;  // above this, bursts from before yesterday are dropped

// Ages in seconds from which waiting jobs are calibrated by forecasts at that age; below, by
// forecasts at submission. Errors of the simulation change as the start approaches.
constexpr std::array<double, 4> kAges = {600, 3'600, 14'400, 43'200};
constexpr size_t kLaterQuantiles = 32;
// Weight of what was learned at submission, in places.
constexpr double kSubmissionWeight = 40;

// 0: below the first of kAges.
size_t AgeClass(double age) {
  return static_cast<size_t>(std::upper_bound(kAges.begin(), kAges.end(), age) - kAges.begin());
}

size_t At(Expert expert) { return static_cast<size_t>(expert); }
size_t At(WaitGroup group) { return static_cast<size_t>(group); }

WaitGroup GroupOf(const SimulatedWait& simulated) {
  if (!simulated.free_now) return WaitGroup::kNotFree;
  return simulated.jobs_competing == 0 ? WaitGroup::kFitsNow : WaitGroup::kFreeButQueued;
}

std::array<bool, kExperts> ReadyIn(const ForecastRecord& forecast_record) {
  std::array<bool, kExperts> ready{};
  ready.fill(true);
  ready[At(Expert::kForest)] = forecast_record.forest_ready;
  return ready;
}

// Remaining wait after `age` of a wait with distribution `said`; nullopt if that excluded it.
std::optional<WaitDistribution> RestOf(const std::array<float, kGridPoints>& said, double age) {
  constexpr double kLeastLeft = 0.02;
  std::vector<WeightedWait> rest;
  double left = 0;
  for (size_t i = 0; i < kGridPoints; ++i) {
    if (GridSeconds(i) <= age) continue;
    const double weight = static_cast<double>(said[i] - (i > 0 ? said[i - 1] : 0.0F));
    if (weight <= 0) continue;
    rest.push_back({GridSeconds(i) - age, weight});
    left += weight;
  }
  if (left < kLeastLeft) return std::nullopt;
  return WaitDistribution::OfWeighted(std::move(rest));
}

// Remaining wait after `age` without a known reason: median as long again (the age is the only
// scale; Gott 1993).
WaitDistribution RestOfUnknown(double age) {
  constexpr int kPoints = 32;
  std::vector<double> rest;
  for (int i = 0; i < kPoints; ++i) {
    const double q = (i + 0.5) / kPoints;
    rest.push_back(std::min(age * q / (1 - q), GridSeconds(kGridPoints - 1)));
  }
  return WaitDistribution::OfSamples(rest);
}

}  // namespace

struct WaitLearner::State {
  // Forecast of a job that had waited for a while, before calibration.
  struct SaidLater {
    size_t age_class = 0;
    double age = 0;
    std::shared_ptr<const std::vector<float>> quantiles;  // of the remaining wait
    double placed_age = 0;                                // age when last counted
  };

  // A waiting job and its forecasts.
  struct Waiting {
    JobRecord record;
    StateKeys keys;
    int64_t burst = 0;
    int64_t row = -1;                                       // in the forest
    std::shared_ptr<const ForecastRecord> forecast_record;  // null: no forecast
    std::optional<double> missed_age = std::nullopt;  // age at which it was counted as past its p90
    double placed_age = 0;                            // age when last counted
    std::vector<SaidLater> later;                     // by ascending age class
  };

  explicit State(uint64_t seed_in) : seed(seed_in), forest(seed_in) {}

  int64_t BurstOf(const JobRecord& job);
  double WeightOf(const Waiting& job) const;
  Waiting& Remember(const JobRecord& job);
  static double AgeOf(const Waiting& job, UnixSeconds now) {
    return static_cast<double>(std::max<UnixSeconds>(now - job.record.eligible, 0));
  }
  WaitDistribution PooledRest(const Waiting* known, UnixSeconds now,
                              const SimulatedWait& simulated) const;

  uint64_t seed;
  WaitHistory history;
  RecentUse recent;
  QuantileForest forest;
  ExpertPool pool;
  Conformal conformal{3};         // by WaitGroup
  Conformal later{kAges.size()};  // by age class, without the first
  std::unordered_map<int64_t, Waiting> waiting;
  std::unordered_map<int64_t, JobRecord> running;
  std::unordered_map<std::string, std::pair<UnixSeconds, int64_t>> bursts;
  std::vector<int64_t> burst_sizes;
};

int64_t WaitLearner::State::BurstOf(const JobRecord& job) {
  auto& [last, burst] = bursts[MakeBurstKey(job)];
  if (burst == 0 || job.submit - last > kBurstSeconds) {
    burst_sizes.push_back(0);
    burst = static_cast<int64_t>(burst_sizes.size());
  }
  last = job.submit;
  ++burst_sizes[static_cast<size_t>(burst) - 1];
  return burst;
}

double WaitLearner::State::WeightOf(const Waiting& job) const {
  return 1 /
         static_cast<double>(std::max<int64_t>(burst_sizes[static_cast<size_t>(job.burst) - 1], 1));
}

WaitLearner::State::Waiting& WaitLearner::State::Remember(const JobRecord& job) {
  Waiting& one = waiting[job.id];
  one = {};
  one.record = job;
  one.burst = BurstOf(job);
  one.keys = MakeStateKeys(job, 0, 0, 0);
  recent.Submitted(job, job.submit);
  return one;
}

WaitLearner::WaitLearner(uint64_t seed) : state_(std::make_unique<State>(seed)) {}
WaitLearner::~WaitLearner() = default;
WaitLearner::WaitLearner(const WaitLearner& other)
    : state_(std::make_unique<State>(*other.state_)) {}
WaitLearner& WaitLearner::operator=(const WaitLearner& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
WaitLearner::WaitLearner(WaitLearner&&) noexcept = default;
WaitLearner& WaitLearner::operator=(WaitLearner&&) noexcept = default;

WaitForecast WaitLearner::Forecast(const QueueFeatures& queue, const JobRecord& job,
                                   const SimulatedWait& simulated) const {
  const State& s = *state_;
  WaitForecast forecast;
  forecast.group = GroupOf(simulated);
  const StateKeys keys = MakeStateKeys(job, static_cast<int>(forecast.group),
                                       simulated.jobs_competing, queue.PendingOf(job.user));
  auto& experts = forecast.experts;
  experts[At(Expert::kPartitionMedian)] = s.history.InPartition(keys);
  experts[At(Expert::kLikeStates)] = s.history.LikeStates(keys);
  experts[At(Expert::kPlanLimits)] = WaitDistribution::At(simulated.plan_limits_seconds);
  experts[At(Expert::kPlanLastTwo)] = WaitDistribution::At(simulated.plan_last_two_seconds);
  experts[At(Expert::kSimulation)] = simulated.simulation;
  forecast.features =
      ComputeWaitFeatures(queue, job, simulated, s.recent, experts[At(Expert::kLikeStates)],
                          experts[At(Expert::kPartitionMedian)]);
  const auto grown = s.forest.Predict(forecast.features, queue.taken_at());
  experts[At(Expert::kForest)] = grown.value_or(experts[At(Expert::kLikeStates)]);
  std::array<bool, kExperts> ready{};
  ready.fill(true);
  ready[At(Expert::kForest)] = grown.has_value();
  forecast.weights = s.pool.Weights(forecast.group, ready);
  std::vector<const WaitDistribution*> parts;
  for (const WaitDistribution& expert : experts) parts.push_back(&expert);
  forecast.pooled = WaitDistribution::Mix(
      parts, std::vector<double>(forecast.weights.begin(), forecast.weights.end()));
  forecast.wait = s.conformal.Calibrate(At(forecast.group), forecast.pooled);
  forecast.keys = {keys.begin(), keys.end()};
  forecast.forest_ready = grown.has_value();
  return forecast;
}

WaitDistribution WaitLearner::State::PooledRest(const Waiting* known, UnixSeconds now,
                                                const SimulatedWait& simulated) const {
  const WaitGroup group = GroupOf(simulated);
  std::array<WaitDistribution, kExperts> experts;
  std::array<bool, kExperts> ready{};
  const auto add = [&](Expert expert, const WaitDistribution& wait) {
    experts[At(expert)] = wait;
    ready[At(expert)] = true;
  };
  const double age = known != nullptr ? AgeOf(*known, now) : 0;
  if (known != nullptr && simulated.held) {
    add(Expert::kSimulation, RestOfUnknown(age));
  } else {
    add(Expert::kZero, WaitDistribution());
    add(Expert::kPlanLimits, WaitDistribution::At(simulated.plan_limits_seconds));
    add(Expert::kPlanLastTwo, WaitDistribution::At(simulated.plan_last_two_seconds));
    add(Expert::kSimulation, simulated.simulation);
  }
  if (known != nullptr && known->forecast_record) {
    const ForecastRecord& said = *known->forecast_record;
    const auto said_ready = ReadyIn(said);
    for (const Expert expert : {Expert::kPartitionMedian, Expert::kLikeStates, Expert::kForest}) {
      if (!said_ready[At(expert)]) continue;
      const auto rest = RestOf(said.experts[At(expert)], age);
      if (rest) add(expert, *rest);  // refuted
    }
  }
  const ExpertWeights weights = pool.Weights(group, ready);
  std::vector<const WaitDistribution*> parts;
  for (const WaitDistribution& expert : experts) parts.push_back(&expert);
  return WaitDistribution::Mix(parts, std::vector<double>(weights.begin(), weights.end()));
}

WaitDistribution WaitLearner::ForecastWaiting(std::optional<int64_t> job_id, UnixSeconds now,
                                              const SimulatedWait& simulated) const {
  const State& s = *state_;
  const auto found = job_id ? s.waiting.find(*job_id) : s.waiting.end();
  const State::Waiting* known = found == s.waiting.end() ? nullptr : &found->second;
  WaitDistribution pooled = s.PooledRest(known, now, simulated);
  if (known != nullptr && simulated.held) return pooled;
  const size_t age_class = known == nullptr ? 0 : AgeClass(State::AgeOf(*known, now));
  const size_t group = At(GroupOf(simulated));
  if (age_class == 0) return s.conformal.Calibrate(group, pooled);
  return s.later.CalibrateBlended(age_class - 1, s.conformal, group, kSubmissionWeight, pooled);
}

void WaitLearner::AskedAgain(int64_t job_id, UnixSeconds now, const SimulatedWait& simulated) {
  State& s = *state_;
  const auto found = s.waiting.find(job_id);
  if (found == s.waiting.end() || simulated.held) return;
  State::Waiting& job = found->second;
  const double age = State::AgeOf(job, now);
  const size_t age_class = AgeClass(age);
  if (age_class == 0 || (!job.later.empty() && job.later.back().age_class >= age_class)) return;
  auto quantiles = std::make_shared<const std::vector<float>>(
      Conformal::QuantilesOf(s.PooledRest(&job, now, simulated), kLaterQuantiles));
  if (Conformal::PredictsImmediateStart(*quantiles)) return;
  job.later.push_back({age_class, age, std::move(quantiles), age});
}

ForecastRecord MakeForecastRecord(const WaitForecast& forecast) {
  ForecastRecord forecast_record;
  forecast_record.group = forecast.group;
  forecast_record.experts = EvaluateOnGrid(forecast.experts);
  forecast_record.features = forecast.features;
  forecast_record.pooled = Conformal::QuantilesOf(forecast.pooled);
  forecast_record.p90 = forecast.wait.Quantile(0.9);
  forecast_record.keys = forecast.keys;
  forecast_record.forest_ready = forecast.forest_ready;
  return forecast_record;
}

void WaitLearner::Submitted(const JobRecord& job) { state_->Remember(job); }

void WaitLearner::Submitted(const JobRecord& job,
                            std::shared_ptr<const ForecastRecord> forecast_record) {
  State& s = *state_;
  State::Waiting& one = s.Remember(job);
  std::copy_n(forecast_record->keys.begin(),
              std::min(forecast_record->keys.size(), one.keys.size()), one.keys.begin());
  one.row = s.forest.Add(forecast_record->features, job.eligible, one.burst);
  one.forecast_record = std::move(forecast_record);
}

void WaitLearner::Started(int64_t job_id, UnixSeconds at) {
  State& s = *state_;
  const auto found = s.waiting.find(job_id);
  if (found == s.waiting.end()) return;
  State::Waiting& job = found->second;
  const auto wait = static_cast<double>(std::max<UnixSeconds>(at - job.record.eligible, 0));
  const double weight = s.WeightOf(job);
  s.history.Started(job.keys, wait, weight);
  s.recent.Started(job.record, wait, at);
  if (job.forecast_record) {
    const ForecastRecord& forecast_record = *job.forecast_record;
    s.pool.Started(forecast_record.group, forecast_record.experts, ReadyIn(forecast_record), wait,
                   weight, job.missed_age.value_or(0));
    if (!Conformal::PredictsImmediateStart(forecast_record.pooled)) {
      s.conformal.Started(At(forecast_record.group), job_id,
                          Conformal::PlaceOf(forecast_record.pooled, wait), weight);
    }
    s.forest.Started(job.row, wait, at);
  }
  for (const State::SaidLater& said : job.later) {
    s.later.Started(said.age_class - 1, job_id,
                    Conformal::PlaceOf(*said.quantiles, std::max(wait - said.age, 0.0)), weight);
  }
  job.record.start = at;
  s.running[job_id] = std::move(job.record);
  s.waiting.erase(found);
}

void WaitLearner::Ended(int64_t job_id, UnixSeconds at) {
  const auto found = state_->running.find(job_id);
  if (found == state_->running.end()) return;
  state_->recent.Ended(found->second, at);
  state_->running.erase(found);
}

void WaitLearner::Vanished(int64_t job_id, UnixSeconds at) {
  State& s = *state_;
  s.running.erase(job_id);
  const auto found = s.waiting.find(job_id);
  if (found == s.waiting.end()) return;
  if (found->second.row >= 0) {
    s.forest.Vanished(found->second.row, static_cast<double>(at - found->second.record.eligible));
  }
  s.waiting.erase(found);
}

void WaitLearner::Advance(UnixSeconds now) {
  State& s = *state_;
  if (s.bursts.size() > kMostBursts) {
    std::erase_if(s.bursts,
                  [&](const auto& burst) { return burst.second.first < now - kDaySeconds; });
  }
  for (auto& [id, job] : s.waiting) {
    const auto age = static_cast<double>(now - job.record.eligible);
    for (State::SaidLater& said : job.later) {
      const auto p90 = static_cast<double>((*said.quantiles)[kLaterQuantiles * 9 / 10]);
      if (age - said.age <= p90 || age < kCountedAnew * said.placed_age) continue;
      said.placed_age = age;
      s.later.StillWaits(said.age_class - 1, id,
                         Conformal::PlaceOf(*said.quantiles, age - said.age).low, s.WeightOf(job));
    }
    if (!job.forecast_record || age <= job.forecast_record->p90) continue;
    const ForecastRecord& said = *job.forecast_record;
    const double weight = s.WeightOf(job);
    if (!job.missed_age) {
      job.missed_age = age;
      s.pool.StillWaits(said.group, said.experts, ReadyIn(said), age, weight);
    } else if (age < kCountedAnew * job.placed_age) {
      continue;
    }
    job.placed_age = age;
    if (Conformal::PredictsImmediateStart(said.pooled)) continue;
    s.conformal.StillWaits(At(said.group), id, Conformal::PlaceOf(said.pooled, age).low, weight);
  }
}

void WaitLearner::Pause() { state_->forest.Pause(); }

void WaitLearner::Resume(UnixSeconds now) { state_->forest.Resume(now); }

}  // namespace gpuadvise
