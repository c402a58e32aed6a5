// The value of a shorter time limit.
//
// Problem. Users ask for several times what they need, because a cut run is lost. They do not see
// the cost of a long limit: the job fits no backfill gap, cannot end before the next maintenance,
// and may not enter partitions with a short MaxTime.
// Idea. Ask the same question at a ladder of limits, with the same random numbers, so that in each
// sample the starts differ only by the limit. Against the gain stands the risk that the run exceeds
// the limit: for a training, from its modelled run time; for other jobs, from the user's own runs
// (common/history/job_duration_history.cc). The advised limit has the largest gain after the mean
// cost of a cut run: the whole limit and another wait, or with checkpoints that wait and the work
// since the last one. A run that starts over is cut with a probability of at most 5 %.
//
// Why not the shortest limit that starts soonest: the gain is often constant over a factor of four
// in limits, the risk is not. Why only the user's own runs: other users' runs show what is common,
// not what this user's run will do.
//
// Cost. One StartOf per limit, at most fourteen, and as many again where a partition or QOS opens.
//
// Limits. docs/limits.md reports how often the promises held. A past run that was cut counts as one
// that continues to the limit in question, so risks are overestimated rather than underestimated.
#include "common/forecast/limit_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "common/base/slurm_time.h"
#include "common/base/statistics.h"
#include "common/base/text.h"
#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

constexpr int64_t kShortestLimit = 10 * kMinuteSeconds;  // start-up alone may take minutes
// Limits with these risks are on the ladder.
constexpr std::array kRisks = {0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25};
// A gain is reported as one figure if four in five samples are this close to it.
constexpr double kSureShare = 0.25;
constexpr double kSureSeconds = 300;
constexpr std::array kFewRisks = {0.01, 0.05};  // for kFewLimits
constexpr double kHopelessRisk = 0.5;           // limits above this risk are not shown
constexpr std::array kRound = {48 * kHourSeconds, 24 * kHourSeconds,  12 * kHourSeconds,
                               8 * kHourSeconds,  4 * kHourSeconds,   2 * kHourSeconds,
                               kHourSeconds,      30 * kMinuteSeconds};

// Step of common limits: five minutes up to an hour, quarters up to eight, hours beyond.
int64_t StepOf(int64_t seconds) {
  if (seconds <= kHourSeconds) return 5 * kMinuteSeconds;
  return seconds <= 8 * kHourSeconds ? 15 * kMinuteSeconds : kHourSeconds;
}
int64_t RoundDown(int64_t seconds) { return seconds / (5 * kMinuteSeconds) * 5 * kMinuteSeconds; }

// Shortest limit with at most this risk, by bisection; `most` if there is none below.
double LimitOfRisk(const RunRisk& risk, double share, double most) {
  double low = 0, high = most;
  if (risk.longer_than(most * 0.999) > share) return most;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (risk.longer_than(middle) > share ? low : high) = middle;
  }
  return high;
}

std::string NameOf(LikeRuns like) {
  switch (like) {
    case LikeRuns::kName:
      return "of that name and limit";
    case LikeRuns::kShape:
      return "of that size and limit";
    case LikeRuns::kLimit:
      return "at that limit";
    case LikeRuns::kUser:
      break;
  }
  return "of any kind";
}

// Further partitions that admit jobs of `limit` but not of the current limit.
std::vector<std::string> OpenedBy(const LimitQuestion& question, int64_t limit) {
  const int64_t present = question.request.time_limit_seconds.value();
  std::vector<std::string> names;
  for (const Partition& partition : question.snapshot.partitions) {
    const SlurmNumber most = partition.max_time_seconds;
    if (partition.hidden || partition.root_only || partition.state != PartitionState::kUp ||
        !most.has_value() || most.value() >= present || most.value() < limit ||
        IsOneOf(partition.name, question.request.partitions)) {
      continue;
    }
    names.push_back(partition.name);
  }
  return names;
}

// A QOS available to the user with a MaxWall below the request's limit.
struct ShortQos {
  std::string name;
  int64_t most = 0;  // MaxWall
};

std::vector<ShortQos> ShortQosOf(const LimitQuestion& question) {
  std::vector<ShortQos> found;
  const Snapshot& snapshot = question.snapshot;
  if (question.submitter == nullptr || !question.ask_as || question.request.partitions.empty() ||
      snapshot.config.enforce.find("qos") == std::string::npos) {
    return found;
  }
  const Association* association =
      FindAssociation(snapshot, *question.submitter, question.request.partitions.front());
  if (association == nullptr) return found;
  const std::string present = EffectiveQos(snapshot, *question.submitter, association);
  for (const Qos& qos : snapshot.qos) {
    const SlurmNumber most = qos.limits.max_wall_seconds;
    if (qos.name == present || !most.has_value() || !IsOneOf(qos.name, association->qos)) continue;
    if (most.value() >= question.request.time_limit_seconds.value()) continue;
    found.push_back({qos.name, most.value()});
  }
  return found;
}

class Curve {
 public:
  explicit Curve(const LimitQuestion& question)
      : question_(question),
        present_(question.request.time_limit_seconds.value()),
        short_qos_(ShortQosOf(question)) {}

  std::vector<LimitPoint> Points() {
    LimitPoint own;
    own.limit_seconds = present_;
    own.request = question_.request;
    own.options = "-t " + FormatDuration(present_);
    own.start = question_.as_it_is;
    own.risk = RiskAt(present_);
    std::vector<LimitPoint> points = {std::move(own)};
    for (const int64_t limit : LimitsToTry(question_)) {
      if (auto point = At(limit)) points.push_back(std::move(*point));
    }
    return points;
  }

 private:
  std::optional<double> RiskAt(int64_t limit) const {
    if (!question_.risk.longer_than) return std::nullopt;
    return question_.risk.longer_than(static_cast<double>(limit));
  }

  std::optional<LimitPoint> Asked(JobRequest request, int64_t limit, bool opens,
                                  const std::string& qos = "") const {
    auto start = qos.empty() ? question_.ask(request) : question_.ask_as(request, With(qos));
    if (!start) return std::nullopt;
    LimitPoint point;
    point.limit_seconds = limit;
    point.options = "-t " + FormatDuration(limit);
    if (opens) {
      point.options = fmt::format("-p {} {}", fmt::join(request.partitions, ","), point.options);
    }
    if (!qos.empty()) point.options = "-q " + qos + " " + point.options;
    point.qos = qos;
    point.request = std::move(request);
    ComparedStart compared = CompareInSameFuture(std::move(*start), question_.as_it_is);
    point.sooner = compared.Gain();
    point.sooner_low = InterpolatedQuantile(compared.gains, .1);
    point.sooner_high = InterpolatedQuantile(compared.gains, .9);
    point.start = std::move(compared.start);
    point.opens_partition = opens;
    point.risk = RiskAt(limit);
    return point;
  }

  Submitter With(const std::string& qos) const {
    Submitter submitter = *question_.submitter;
    submitter.qos = qos;
    return submitter;
  }

  // The start as requested or, if earlier, with the partitions or QOS that the limit opens.
  std::optional<LimitPoint> At(int64_t limit) const {
    std::optional<LimitPoint> best = InPartitions(limit);
    for (const ShortQos& qos : short_qos_) {
      if (qos.most < limit) continue;
      JobRequest request = question_.request;
      request.time_limit_seconds = limit;
      auto other = Asked(std::move(request), limit, false, qos.name);
      if (other && (!best || other->sooner >= best->sooner + kMinuteSeconds)) {
        best = std::move(other);
      }
    }
    return best;
  }

  std::optional<LimitPoint> InPartitions(int64_t limit) const {
    JobRequest request = question_.request;
    request.time_limit_seconds = limit;
    auto plain = Asked(request, limit, false);
    const std::vector<std::string> opened = OpenedBy(question_, limit);
    if (opened.empty()) return plain;
    request.partitions.insert(request.partitions.end(), opened.begin(), opened.end());
    auto wider = Asked(std::move(request), limit, true);
    if (!wider || (plain && wider->sooner < plain->sooner + kMinuteSeconds)) return plain;
    return wider;
  }

  const LimitQuestion& question_;
  const int64_t present_;
  const std::vector<ShortQos> short_qos_;
};

// Mean gain of a limit after the cost of cut runs.
double NetOf(const LimitPoint& point, const LimitPoint& own, const RunRisk& risk) {
  const double more = std::max(*point.risk - own.risk.value_or(0), 0.0);
  const double again = risk.redo_seconds
                           ? point.start.Quantile(.5) + *risk.redo_seconds
                           : own.start.Quantile(.5) + static_cast<double>(point.limit_seconds);
  return point.sooner - more * again;
}

std::optional<size_t> BestOf(const std::vector<LimitPoint>& points, const RunRisk& risk) {
  const LimitPoint& own = points.front();
  const double most = risk.redo_seconds ? kMaxRiskResumed : kMaxRisk;
  std::optional<size_t> best;
  double net = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    const LimitPoint& point = points[i];
    if (*point.risk > most || !IsWorthIt(point.start, own.start)) continue;
    const double gains = NetOf(point, own, risk);
    // Of limits with equal gain, prefers the longest.
    if (gains < kWorthSeconds || (best && gains < net + kMinuteSeconds)) continue;
    best = i;
    net = gains;
  }
  return best;
}

std::string GainInWords(const LimitPoint& point) {
  if (IsSure(point)) return DurationInWords(point.sooner) + " sooner";
  return fmt::format("about {} sooner ({} to {})", DurationInWords(point.sooner),
                     DurationInWords(std::max(point.sooner_low, 0.0)),
                     DurationInWords(point.sooner_high));
}

std::string SentenceOf(const LimitPoint& best, const LimitPoint& own, const RunRisk& risk) {
  const std::string now = best.start.Quantile(.9) < 30 ? ", now" : "";
  return fmt::format("{} instead of {}: starts {}{}; {} of {} would be cut off{}", best.options,
                     FormatDuration(own.limit_seconds), GainInWords(best), now,
                     RiskInWords(*best.risk), risk.words,
                     risk.redo_seconds ? " and resume from their last checkpoint" : "");
}

// Why there is no advice although the risk is known.
std::string NoneInWords(const std::vector<LimitPoint>& points, const RunRisk& risk) {
  const LimitPoint& own = points.front();
  if (own.start.Quantile(.5) < kWorthSeconds) return "it starts soon anyway";
  const double most = risk.redo_seconds ? kMaxRiskResumed : kMaxRisk;
  const bool any = std::any_of(points.begin() + 1, points.end(), [&](const LimitPoint& point) {
    return IsWorthIt(point.start, own.start);
  });
  if (!any) return "no shorter limit starts it much earlier";
  return fmt::format("only limits that cut off more than {:.0f} % of {} start it much earlier",
                     100 * most, risk.words);
}

}  // namespace

bool IsSure(const LimitPoint& point) {
  const double apart = std::max(kSureShare * point.sooner, kSureSeconds);
  return point.sooner_low >= point.sooner - apart && point.sooner_high <= point.sooner + apart;
}

namespace {

// Number of ascending `bins` of runs that may have exceeded `seconds`.
size_t LongerIn(const std::vector<int16_t>& bins, double seconds) {
  const auto first = std::lower_bound(bins.begin(), bins.end(), RunTimeBin(seconds));
  return static_cast<size_t>(bins.end() - first);
}

}  // namespace

RunRisk RiskFromHistory(const RunTimeHistory* past, const JobRecord& job) {
  RunRisk risk;
  size_t known = 0, batches = 0;
  const auto own = past == nullptr || job.user.empty() ? std::array<OwnRuns, kLikeRuns>()
                                                       : past->FindOwnRuns(job);
  for (size_t i = 0; i < kLikeRuns; ++i) {
    const OwnRuns& runs = own[i];
    known = std::max(known, runs.bins.size());
    batches = std::max<size_t>(batches, runs.batches);
    if (runs.bins.size() < kEnoughRuns || runs.batches < kEnoughBatches) continue;
    risk.words = fmt::format("such runs ({} of yours {})", runs.bins.size(),
                             NameOf(static_cast<LikeRuns>(i)));
    // At the limit itself, use the share that reached it.
    const SlurmNumber limit = job.limit_seconds;
    const double most = limit.has_value() ? std::nextafter(static_cast<double>(limit.value()), 0.0)
                                          : std::numeric_limits<double>::infinity();
    risk.longer_than = [all = past->Of(job), bins = runs.bins, most](double seconds) {
      const double at = std::min(seconds, most);
      const auto longer = static_cast<double>(LongerIn(bins, at));
      return std::max(1 - all.Cdf(at), (longer + 1) / static_cast<double>(bins.size() + 1));
    };
    return risk;
  }
  risk.words = fmt::format(
      "the risk of a shorter limit is not known: {} of your runs in {} batches are needed, "
      "{} in {} {} known",
      kEnoughRuns, kEnoughBatches, known, batches, known == 1 ? "is" : "are");
  return risk;
}

RunRisk RiskOfTraining(double p50, double sigma, std::optional<double> redo_seconds) {
  RunRisk risk;
  risk.words = "such runs";
  risk.redo_seconds = redo_seconds;
  risk.longer_than = [p50, sigma](double seconds) {
    if (seconds <= 0) return 1.0;
    if (sigma <= 0) return seconds < p50 ? 1.0 : 0.0;
    return 1 - NormalCdf(std::log(seconds / p50) / sigma);
  };
  return risk;
}

int64_t RoundToCommonLimit(double seconds) {
  const int64_t whole = std::llround(std::ceil(std::min(seconds, 1e9)));
  const int64_t step = StepOf(whole);
  return std::max((whole + step - 1) / step * step, kShortestLimit);
}

std::string RiskInWords(double risk) {
  const double percent = 100 * risk;
  if (percent < 0.05) return "less than 0.1 %";
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::vector<int64_t> LimitsToTry(const LimitQuestion& question) {
  const int64_t present = question.request.time_limit_seconds.value();
  const int64_t least = std::max(question.floor_seconds, kShortestLimit);
  std::set<int64_t> limits, chosen;
  const auto add = [&](std::set<int64_t>& to, int64_t limit) {
    if (limit < least || limit >= present) return;
    const bool hopeless = question.risk.longer_than &&
                          question.risk.longer_than(static_cast<double>(limit)) > kHopelessRisk;
    if (!hopeless) to.insert(limit);
  };
  if (question.risk.longer_than) {
    const bool few = question.most_limits < kMaxLimits;
    for (const double share :
         few ? std::span<const double>(kFewRisks) : std::span<const double>(kRisks)) {
      add(limits,
          RoundToCommonLimit(LimitOfRisk(question.risk, share, static_cast<double>(present))));
    }
  }
  for (const Reservation& each : question.snapshot.reservations) {
    if (!each.start_time || !HasFlag(each.flags, "MAINT")) continue;
    add(limits, RoundDown(*each.start_time - question.snapshot.taken_at));
  }
  for (const Partition& partition : question.snapshot.partitions) {
    if (partition.max_time_seconds.has_value()) add(limits, partition.max_time_seconds.value());
  }
  for (const ShortQos& qos : ShortQosOf(question)) add(limits, qos.most);
  if (question.floor_seconds > 0) add(limits, question.floor_seconds);
  std::set<int64_t, std::greater<>> all;
  for (auto it = limits.rbegin(); it != limits.rend() && all.size() + 1 < question.most_limits;
       ++it) {
    all.insert(*it);
  }
  for (const int64_t limit : kRound) {
    add(chosen, limit);
    if (all.size() + 1 < question.most_limits && chosen.contains(limit)) all.insert(limit);
  }
  return {all.begin(), all.end()};
}

LimitAdvice AdviseLimit(const LimitQuestion& question) {
  LimitAdvice advice;
  if (!question.request.time_limit_seconds.has_value()) {
    advice.words = "it has no time limit to shorten";
    return advice;
  }
  advice.points = Curve(question).Points();
  if (!question.risk.longer_than) {
    advice.words = question.risk.words;
    return advice;
  }
  advice.best = BestOf(advice.points, question.risk);
  const LimitPoint& own = advice.points.front();
  if (!advice.best) {
    advice.words = NoneInWords(advice.points, question.risk);
    return advice;
  }
  const LimitPoint& best = advice.points[*advice.best];
  advice.words = SentenceOf(best, own, question.risk);
  if (!best.opens_partition && best.qos.empty() &&
      question.snapshot.config.scheduler_type == "sched/backfill") {
    advice.soft = fmt::format(
        "--time-min={} with -t {} may start as early by backfill and keeps as much time as there "
        "is room for",
        FormatDuration(best.limit_seconds), FormatDuration(own.limit_seconds));
  }
  return advice;
}

}  // namespace gpuadvise
