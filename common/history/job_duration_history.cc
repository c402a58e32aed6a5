// Prediction of run times.
//
// Problem. Users ask for several times what they need, each in their own way. The limit says
// little, and a wrong run time of a running job shifts every start behind it.
//
// Idea. A chain of increasingly general histories: jobs submitted with this one; the same user,
// name and limit; user, size and limit; user and limit; user; user, as a share of the limit;
// account and limit; partition and limit; everyone; finally a prior. Each level is the smoothed
// histogram of its last run times, in seconds up to the user's, from there on as shares of the
// limit. From general to special, each level is mixed with the result below it. The weight depends
// on the level and its amount of evidence and is learned: after each job it moves towards the
// probability that the run time came from that level (on-line EM, as in Jelinek-Mercer smoothing of
// language models). So a site with repetitive users comes to trust users, and one with meaningful
// job names trusts names. Running jobs count as censored: their mass lies beyond the time reached.
// Early failures and the spike at the limit need no special case: both are bins.
//
// First weights. A young history has to be doubted. With these weights and the user's share of the
// limit, the first 100 run times of 16 cuts of Curie 2012 and of four made days were .26 and .30
// nats more probable than with .8 for every level and without that share (other cuts and days: .27
// and .34).
//
// Why not a regression. One feature matters: the user's other jobs. And the forecast needs a
// distribution with atoms, conditional on elapsed time.
//
// Prior. Run time over limit of 19,407 GPU jobs of the Graham cluster (Alliance, 2021; data of
// mila-iqia/slurm-queue-time-pred, MIT licence): quartiles .04, .22, .34; 6 % end by their limit.
//
// Cost. One query some 5 µs; memory 16 bytes per remembered run time, 40 per key and level.
//
// Limits. Users change habits between projects; the last 40 runs follow slowly.
#include "common/history/job_duration_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

// Jobs submitted this close are first-level evidence. Longer than a burst (kBurstSeconds): even
// weak similarity beats the user's jobs in general.
constexpr UnixSeconds kTogetherSeconds = 600;
constexpr double kPriorTrials = 10;  // resistance of the initial weights
constexpr double kPriorEvidence = 2;
// Initial weights of the levels with much evidence; half of them with kPriorEvidence jobs.
constexpr std::array<double, 9> kPriorShares = {.8, .4, .3, .3, .2, .4, .2, .4, .4};
constexpr size_t kKeptOfOne = 40;    // per user and narrower
constexpr size_t kKeptOfMany = 200;  // per account, partition, everyone

// Shares of jobs by run time over limit: the Graham distribution.
struct PriorStep {
  double up_to;
  double share;
};
constexpr std::array<PriorStep, 12> kGraham = {{{0.0005, 0.10},
                                                {0.0025, 0.05},
                                                {0.0136, 0.05},
                                                {0.038, 0.05},
                                                {0.0605, 0.05},
                                                {0.1014, 0.10},
                                                {0.218, 0.10},
                                                {0.3193, 0.15},
                                                {0.4033, 0.15},
                                                {0.5553, 0.05},
                                                {0.7462, 0.05},
                                                {0.99, 0.04}}};
constexpr double kGrahamAtLimit = 0.06;
constexpr int64_t kForgetEvery = 10'000;  // jobs
constexpr int64_t kForgetSeconds = int64_t{180} * 86'400;
constexpr double kWithoutLimitSeconds = 86'400;  // limit assumed for jobs without one

int64_t LimitOf(const JobRecord& job) { return job.limit_seconds.value_or(0); }

int LimitBin(const JobRecord& job) {
  const int64_t limit = LimitOf(job);
  return RunTimeBin(limit > 0 ? static_cast<double>(limit) : kWithoutLimitSeconds);
}

constexpr int kMostHalfWidth = 10;

// A triangle of weight 1, `half_width` bins to each side.
class Triangle {
 public:
  explicit Triangle(int half_width) : half_width_(half_width) {
    const double norm = std::pow(half_width + 1, 2);
    for (int i = 0; i <= 2 * half_width; ++i) {
      weights_[static_cast<size_t>(i)] =
          static_cast<float>((half_width + 1 - std::abs(i - half_width)) / norm);
    }
  }

  // Adds it around `bin`; mass outside goes to the edge.
  void AddTo(RunTimeHistogram& histogram, int bin) const {
    for (int i = 0; i <= 2 * half_width_; ++i) {
      const int at = std::clamp(bin + i - half_width_, 0, kRunTimeBins - 1);
      histogram[static_cast<size_t>(at)] += weights_[static_cast<size_t>(i)];
    }
  }

 private:
  int half_width_;
  std::array<float, 2 * kMostHalfWidth + 1> weights_{};
};

// Spreads `weight` as `from` is beyond `bin`; at the limit if nothing lies there.
void SpreadBeyond(RunTimeHistogram& histogram, const RunTimeHistogram& from, int bin,
                  double weight) {
  double beyond = 0;
  for (size_t i = static_cast<size_t>(bin); i < from.size(); ++i) {
    beyond += static_cast<double>(from[i]);
  }
  if (beyond <= 1e-9) {
    histogram.back() += static_cast<float>(weight);
    return;
  }
  for (size_t i = static_cast<size_t>(bin); i < from.size(); ++i) {
    histogram[i] += static_cast<float>(weight * static_cast<double>(from[i]) / beyond);
  }
}

void Normalise(RunTimeHistogram& histogram) {
  std::array<double, 4> sums{};  // independent sums, for speed
  for (size_t i = 0; i < histogram.size(); ++i) sums[i % 4] += static_cast<double>(histogram[i]);
  const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (sum <= 0) return;
  for (float& weight : histogram) {
    if (weight != 0) weight = static_cast<float>(static_cast<double>(weight) / sum);
  }
}

}  // namespace

void RunTimeHistory::Recent::Add(const Seen& one, size_t most) {
  if (seen.size() < most) {
    seen.push_back(one);
    return;
  }
  seen[next] = one;
  next = (next + 1) % most;
}

RunTimeHistory::RunTimeHistory() {
  static_assert(kPriorShares.size() == kLevels);
  for (size_t level = 0; level < kLevels; ++level) {
    for (size_t bucket = 0; bucket < kEvidenceBuckets; ++bucket) {
      const double evidence = std::exp2(static_cast<double>(bucket));
      levels_[level].share[bucket] = kPriorShares[level] * evidence / (evidence + kPriorEvidence);
      levels_[level].trials[bucket] = kPriorTrials;
    }
  }
}

size_t RunTimeHistory::EvidenceBucket(double evidence) {
  const double bucket = std::log2(std::max(evidence, 1.0));
  return std::min(static_cast<size_t>(bucket), kEvidenceBuckets - 1);
}

std::string RunTimeHistory::KeyOf(const JobRecord& job, size_t level) {
  const int64_t limit = LimitOf(job);
  switch (level) {
    case 0:
      return MakeBurstKey(job);
    case 2:
      return fmt::format("{}|{}|{}|{}|{}|{}|{}", job.user, job.partition, job.gpu, job.nodes,
                         job.cpus, job.gpus, limit);
    case 1:
      return job.name.empty() ? "" : fmt::format("{}|{}|{}", job.user, job.name, limit);
    case 3:
      return fmt::format("{}|{}", job.user, limit);
    case 4:
      return job.user;
    case 5:
      return limit > 0 ? job.user : "";
    case 6:
      return job.account.empty() ? "" : fmt::format("{}|{}", job.account, limit);
    case 7:
      return fmt::format("{}|{}", job.partition, limit);
    default:
      return "*";
  }
}

RunTimeHistogram RunTimeHistory::Prior(int limit_bin) const {
  RunTimeHistogram prior{};
  double low = 1e-5;
  for (const PriorStep& step : kGraham) {
    const int first =
        std::clamp(limit_bin + static_cast<int>(std::floor(std::log2(low) * kRunTimeBinsPerOctave)),
                   0, kRunTimeBins - 1);
    const int last = std::clamp(
        limit_bin + static_cast<int>(std::floor(std::log2(step.up_to) * kRunTimeBinsPerOctave)),
        first, kRunTimeBins - 1);
    const double each = step.share / (last - first + 1);
    for (int bin = first; bin <= last; ++bin) {
      prior[static_cast<size_t>(bin)] += static_cast<float>(each);
    }
    low = step.up_to;
  }
  prior.back() += static_cast<float>(kGrahamAtLimit);
  Normalise(prior);
  return prior;
}

// Histogram of one level, given the levels below; returns its evidence.
double RunTimeHistory::Fill(size_t level, const JobRecord& job, const RunTimeHistogram& below,
                            RunTimeHistogram& out) const {
  const std::string key = KeyOf(job, level);
  if (key.empty()) return 0;
  const auto found = levels_[level].keys.find(key);
  if (found == levels_[level].keys.end()) return 0;
  const Recent& recent = found->second;
  const bool all_count = level != 0 || job.array_job_id != 0;
  const auto counts = [&](const Seen& seen) {
    return all_count || std::abs(seen.submit - job.submit) <= kTogetherSeconds;
  };
  const auto counted = std::count_if(recent.seen.begin(), recent.seen.end(), counts);
  if (counted == 0 && (recent.running.empty() || level == 0)) return 0;
  const auto evidence = static_cast<double>(counted);
  const Triangle triangle(
      level == 0 ? 2
                 : std::clamp(static_cast<int>(kMostHalfWidth / std::cbrt(std::max(evidence, 1.0))),
                              1, kMostHalfWidth));
  const int limit_bin = LimitBin(job);
  out.fill(0);
  for (const Seen& seen : recent.seen) {
    if (!counts(seen)) continue;
    if (seen.bin >= kRunTimeBins) {
      out.back() += 1;
    } else {
      triangle.AddTo(out, IsRelative(level) ? limit_bin - seen.below_limit : seen.bin);
    }
  }
  if (!IsRelative(level) && !recent.running.empty()) {
    RunTimeHistogram basis = below;
    for (size_t i = 0; i < basis.size(); ++i) basis[i] += out[i];
    for (const int16_t bin : recent.running) SpreadBeyond(out, basis, bin, 1);
  }
  Normalise(out);
  return evidence + (IsRelative(level) ? 0.0 : static_cast<double>(recent.running.size()));
}

// Runs from the level below `from` to the more special `to`, over `below`; calls visit(level,
// evidence bucket, histogram, below) for each level with evidence.
template <typename Visit>
void RunTimeHistory::Descend(const JobRecord& job, size_t from, size_t to, RunTimeHistogram& below,
                             const Visit& visit) const {
  RunTimeHistogram own;
  for (size_t level = from; level-- > to;) {
    const double evidence = Fill(level, job, below, own);
    if (evidence <= 0) continue;
    const size_t bucket = EvidenceBucket(evidence);
    visit(level, bucket, own, below);
    const auto share = static_cast<float>(levels_[level].share[bucket]);
    for (size_t i = 0; i < own.size(); ++i) below[i] = share * own[i] + (1 - share) * below[i];
  }
}

RunTimeDistribution RunTimeHistory::Of(const JobRecord& job) const {
  GeneralRunTimes general;
  return Of(job, general);
}

RunTimeDistribution RunTimeHistory::Of(const JobRecord& job, GeneralRunTimes& general) const {
  const auto ignore = [](size_t, size_t, const RunTimeHistogram&, const RunTimeHistogram&) {};
  const auto [known, added] = general.try_emplace(KeyOf(job, kGeneralLevel));
  if (added) {
    known->second = Prior(LimitBin(job));
    Descend(job, kLevels, kGeneralLevel, known->second, ignore);
  }
  RunTimeHistogram histogram = known->second;
  Descend(job, kGeneralLevel, 0, histogram, ignore);
  return {histogram, LimitOf(job)};
}

std::array<OwnRuns, kLikeRuns> RunTimeHistory::FindOwnRuns(const JobRecord& job) const {
  std::array<OwnRuns, kLikeRuns> all;
  for (size_t like = 0; like < kLikeRuns; ++like) {
    const size_t level = like + 1;  // 0 is the burst
    const auto found = levels_[level].keys.find(KeyOf(job, level));
    if (found == levels_[level].keys.end()) continue;
    OwnRuns& own = all[like];
    std::vector<UnixSeconds> submits;
    for (const Seen& seen : found->second.seen) {
      own.bins.push_back(seen.bin);
      submits.push_back(seen.submit);
    }
    std::sort(own.bins.begin(), own.bins.end());
    std::sort(submits.begin(), submits.end());
    for (size_t i = 0; i < submits.size(); ++i) {
      own.batches += i == 0 || submits[i] - submits[i - 1] > kBurstSeconds ? 1 : 0;
    }
  }
  return all;
}

void RunTimeHistory::Ended(const JobRecord& job) {
  const auto ran = static_cast<double>(*job.end - *job.start);
  if (ran < 0) return;
  const bool by_limit = EndedByLimit(ran, LimitOf(job));
  const int bin = RunTimeBin(ran);
  const auto place = static_cast<size_t>(by_limit ? kRunTimeBins : bin);
  struct Move {
    size_t level;
    size_t bucket;
    double responsibility;
  };
  std::vector<Move> moves;
  RunTimeHistogram below_all = Prior(LimitBin(job));
  Descend(
      job, kLevels, 0, below_all,
      [&](size_t level, size_t bucket, const RunTimeHistogram& own, const RunTimeHistogram& below) {
        const double share = levels_[level].share[bucket];
        const double mine = share * static_cast<double>(own[place]);
        const double others = (1 - share) * static_cast<double>(below[place]);
        if (mine + others > 0) moves.push_back({level, bucket, mine / (mine + others)});
      });
  for (const Move& move : moves) {
    double& share = levels_[move.level].share[move.bucket];
    double& trials = levels_[move.level].trials[move.bucket];
    trials = std::min(trials + 1, 2000.0);
    share = std::clamp(share + (move.responsibility - share) / trials, 0.02, 0.98);
  }
  Seen seen;
  seen.bin = static_cast<int16_t>(place);
  seen.below_limit = static_cast<int16_t>(LimitBin(job) - bin);
  seen.submit = job.submit;
  for (size_t level = 0; level < kLevels; ++level) {
    const std::string key = KeyOf(job, level);
    if (!key.empty())
      levels_[level].keys[key].Add(seen, level <= kLastUserLevel ? kKeptOfOne : kKeptOfMany);
  }
  std::array<double, 2>& last =
      last_two_.try_emplace(job.user, std::array{-1.0, -1.0}).first->second;
  last = {ran, last[0]};
  if (++jobs_ % kForgetEvery == 0) Forget(job.submit - kForgetSeconds);
}

// Names with dates and numbers never return: drops keys seen only once.
void RunTimeHistory::Forget(UnixSeconds before) {
  for (Level& level : levels_) {
    std::erase_if(level.keys, [&](const auto& key) {
      const std::vector<Seen>& seen = key.second.seen;
      return key.second.running.empty() &&
             std::all_of(seen.begin(), seen.end(),
                         [&](const Seen& one) { return one.submit < before; });
    });
  }
}

double RunTimeHistory::LastTwo(const JobRecord& job) const {
  const auto limit = static_cast<double>(LimitOf(job));
  const auto found = last_two_.find(job.user);
  if (found == last_two_.end()) return limit;
  const auto& [last, before] = found->second;
  const double mean = before < 0 ? last : (last + before) / 2;
  return limit > 0 ? std::min(mean, limit) : mean;
}

void RunTimeHistory::SetRunning(const std::vector<JobRecord>& running, UnixSeconds now) {
  for (const auto& [level, key] : running_keys_) {
    const auto found = levels_[level].keys.find(key);
    if (found == levels_[level].keys.end()) continue;
    found->second.running.clear();
    if (found->second.seen.empty()) levels_[level].keys.erase(found);
  }
  running_keys_.clear();
  for (const JobRecord& job : running) {
    if (!job.start) continue;
    const int bin = RunTimeBin(static_cast<double>(now - *job.start));
    for (size_t level = 1; level <= 4; ++level) {
      std::string key = KeyOf(job, level);
      if (key.empty()) continue;
      levels_[level].keys[key].running.push_back(static_cast<int16_t>(bin));
      running_keys_.emplace_back(level, std::move(key));
    }
  }
}

}  // namespace gpuadvise
