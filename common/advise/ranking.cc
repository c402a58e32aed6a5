#include "common/advise/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "common/base/words.h"

namespace gpuadvise {
namespace {

// Ends that are nearer than this are the same for a forecast.
constexpr double kSameShare = 0.03;
constexpr double kSameSeconds = 60;
constexpr double kClearlyLess = 0.9;      // of GPU-hours, and of others' delay
constexpr double kDelayWorthSaying = 60;  // seconds
constexpr double kSurerSeconds = 30;      // by which another row's median must be earlier
constexpr double kLeastDelay = 300;       // seconds of others' delay that are worth a place

int64_t GpusOf(const Strategy& strategy) {
  return strategy.placement.gpus_per_node * strategy.placement.nodes;
}

std::string Title(const Strategy& strategy) {
  std::string title =
      fmt::format("{} × {}", strategy.placement.pool->Name(), strategy.placement.gpus_per_node);
  return strategy.placement.nodes == 1
             ? title
             : fmt::format("{} on {} nodes", title, strategy.placement.nodes);
}

// The end that "finish" goes by, in seconds from now.
double EndOf(const Strategy& strategy, const RankBy& by) {
  return RankedEnd(strategy.total.p50, strategy.total.p90, by.caution);
}

// What the objective minimises; smaller tuples come first.
std::tuple<double, double, double> Key(const Strategy& strategy, const RankBy& by,
                                       bool all_priced) {
  const double price = all_priced ? *strategy.cost : strategy.gpu_hours;
  const Spread& total = strategy.total;
  switch (by.objective) {
    case Objective::kFinish:
      break;
    case Objective::kStart:
      return {strategy.wait.p50, strategy.wait.p90, total.p50};
    case Objective::kCost:
      return {price, total.p50, total.p90};
    case Objective::kDeadline: {
      const double chance = ChanceToFinishBy(strategy, *by.seconds_to_deadline);
      const bool sure = chance >= kSureEnough;
      return {sure ? 0 : 1, sure ? price : 1 - chance, total.p50};
    }
  }
  const double others = by.courtesy > 0 ? strategy.delay->seconds : 0;
  return {EndOf(strategy, by) + by.courtesy * others, total.p90, 0};
}

// "waits 3 h 02 longer", "runs 3 h 40 less"; "" when they are about the same.
std::string Difference(const char* verb, double seconds) {
  if (std::abs(seconds) < 30) return {};
  return fmt::format("{} {} {}", verb, DurationInWords(std::abs(seconds)),
                     seconds > 0 ? "longer" : "less");
}

std::vector<std::string> Against(const Strategy& strategy, const Strategy& other) {
  std::vector<std::string> parts;
  for (std::string part : {Difference("waits", strategy.wait.p50 - other.wait.p50),
                           Difference("runs", strategy.run.p50 - other.run.p50)}) {
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

// Of the other rows, the one whose median end is earliest; nullptr if that of the first is.
const Strategy* EarlierMedian(const std::vector<Strategy>& strategies) {
  const auto earliest = std::min_element(
      strategies.begin(), strategies.end(),
      [](const Strategy& a, const Strategy& b) { return a.total.p50 < b.total.p50; });
  const double earlier = strategies.front().total.p50 - earliest->total.p50;
  return earlier > kSurerSeconds ? &*earliest : nullptr;
}

// The best strategy on other hardware, which is what a reader compares the first one with.
const Strategy* NextHardware(const std::vector<Strategy>& strategies) {
  for (const Strategy& strategy : strategies) {
    if (strategy.placement.pool->model != strategies.front().placement.pool->model)
      return &strategy;
  }
  return strategies.size() > 1 ? &strategies[1] : nullptr;
}

// "done 2 h before", with the words of what is no difference.
std::string DoneBefore(double seconds) {
  if (seconds < -30) return fmt::format("done {} after", DurationInWords(-seconds));
  if (seconds < 30) return "done at the same time as";
  return fmt::format("done {} before", DurationInWords(seconds));
}

// Prices and billing hours cannot be compared with each other.
bool AllPriced(const std::vector<Strategy>& strategies) {
  return std::all_of(strategies.begin(), strategies.end(), [&](const Strategy& strategy) {
    return strategy.cost && strategy.cost_is_billing == strategies.front().cost_is_billing;
  });
}

bool EndsAlike(double seconds, double of_first) {
  return seconds <= of_first + std::max(kSameShare * of_first, kSameSeconds);
}

// Whether `strategy` costs others clearly less than `other`.
bool DelaysLess(const Strategy& strategy, const Strategy& other) {
  if (!strategy.delay || !other.delay) return false;
  const double less = other.delay->seconds - strategy.delay->seconds;
  return less > kLeastDelay && strategy.delay->seconds < kClearlyLess * other.delay->seconds;
}

std::string WordsOr(const Strategy& strategy, const char* nobody) {
  const std::string words = DelayInWords(strategy);
  return words.empty() ? nobody : words;
}

// By "finish"; `rest` compares the first with `next`.
std::string WhyDoneFirst(const std::vector<Strategy>& strategies, const Strategy& next,
                         const std::string& rest, const RankBy& by) {
  const Strategy& first = strategies.front();
  const Strategy& second = strategies[1];
  const bool overtook = EndOf(second, by) < EndOf(first, by);  // by what it costs
  if (overtook && DelaysLess(first, second)) {
    return fmt::format("done {} after {}, and {} instead of {}",
                       DurationInWords(EndOf(first, by) - EndOf(second, by)), Title(second),
                       WordsOr(first, "delays nobody"), DurationInWords(second.delay->seconds));
  }
  if (overtook && second.gpu_hours > first.gpu_hours) {
    return fmt::format("done about when {} is, with {:.1f} instead of {:.1f} GPU-hours",
                       Title(second), first.gpu_hours, second.gpu_hours);
  }
  if (const Strategy* earlier = EarlierMedian(strategies);
      earlier != nullptr && earlier->total.p90 > first.total.p90) {
    return fmt::format("surer than {}: 9 in 10 such runs are done within {}, there within {}",
                       Title(*earlier), DurationInWords(first.total.p90),
                       DurationInWords(earlier->total.p90));
  }
  return fmt::format("{} {}{}", DoneBefore(next.total.p50 - first.total.p50), Title(next), rest);
}

std::string WhyFirst(const std::vector<Strategy>& strategies, const RankBy& by) {
  const Strategy& first = strategies.front();
  const Strategy* next = NextHardware(strategies);
  if (next == nullptr) return "the only possible strategy";
  if (first.MemoryChecked() && !next->MemoryChecked()) {
    return fmt::format("it fits the GPU; whether the job fits {} is not known", Title(*next));
  }
  std::vector<std::string> parts = Against(first, *next);
  std::string rest = parts.empty() ? "" : fmt::format(": {}", JoinNames(parts));
  switch (by.objective) {
    case Objective::kFinish:
      return WhyDoneFirst(strategies, *next, rest, by);
    case Objective::kStart:
      return fmt::format("starts first, compared with {}{}", Title(*next), rest);
    case Objective::kCost:
      if (AllPriced(strategies)) {
        return fmt::format("costs {:.2f}, {} {:.2f}", *first.cost, Title(*next), *next->cost);
      }
      return fmt::format("{:.1f} GPU-hours, {:.1f} on {}", first.gpu_hours, next->gpu_hours,
                         Title(*next));
    case Objective::kDeadline:
      return fmt::format("{:.0f} % chance to be done in time, {} {:.0f} %",
                         100 * ChanceToFinishBy(first, *by.seconds_to_deadline), Title(*next),
                         100 * ChanceToFinishBy(*next, *by.seconds_to_deadline));
  }
  return {};
}

}  // namespace

double ChanceToFinishBy(const Strategy& strategy, double seconds) {
  const std::vector<double>& totals = strategy.total_samples;
  auto after = std::upper_bound(totals.begin(), totals.end(), seconds);
  return static_cast<double>(after - totals.begin()) / static_cast<double>(totals.size());
}

namespace {

// Of equal rows: fewest GPUs, and the partition of the shortest limit, so that those for long jobs
// are left to them.
std::tuple<int64_t, int64_t, bool> Sparing(const Strategy& strategy) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const Partition* const partition = strategy.placement.pool->partition;
  if (partition == nullptr) return {GpusOf(strategy), kNone, true};
  return {GpusOf(strategy), partition->max_time_seconds.value_or(kNone), !partition->is_default};
}

// Of rows that end about when the first does, the one that costs others least goes first: clearly
// less delay, else clearly fewer GPU-hours, as the rest of the GPUs would start somebody else's
// job.
void PutCheapestFirst(std::vector<Strategy>& strategies, const RankBy& by) {
  const Strategy& quickest = strategies.front();
  const auto end = strategies.begin() + static_cast<long>(CountAlike(strategies, by));
  auto best = strategies.begin();
  for (auto each = strategies.begin() + 1; each < end; ++each) {
    if (!EndsAlike(each->total.p90, quickest.total.p90)) continue;
    const bool fewer =
        each->gpu_hours < kClearlyLess * quickest.gpu_hours && each->gpu_hours < best->gpu_hours;
    if (DelaysLess(*each, *best) || (fewer && !DelaysLess(*best, *each))) best = each;
  }
  std::rotate(strategies.begin(), best, best + 1);
}

}  // namespace

void RankStrategies(std::vector<Strategy>& strategies, const RankBy& by) {
  const bool all_priced = AllPriced(strategies);
  const bool delays_known =
      std::all_of(strategies.begin(), strategies.end(),
                  [](const Strategy& each) { return each.delay.has_value(); });
  RankBy weighed = by;
  if (!delays_known) weighed.courtesy = 0;
  std::stable_sort(strategies.begin(), strategies.end(), [&](const Strategy& a, const Strategy& b) {
    // What may not even fit comes after what is known to.
    if (a.MemoryChecked() != b.MemoryChecked()) return a.MemoryChecked();
    auto key_a = Key(a, weighed, all_priced), key_b = Key(b, weighed, all_priced);
    if (key_a != key_b) return key_a < key_b;
    return Sparing(a) < Sparing(b);
  });
  if (by.objective == Objective::kFinish && !strategies.empty()) PutCheapestFirst(strategies, by);
}

size_t CountAlike(const std::vector<Strategy>& ranked, const RankBy& by) {
  size_t count = 0;
  while (count < ranked.size() && ranked[count].MemoryChecked() == ranked.front().MemoryChecked() &&
         EndsAlike(EndOf(ranked[count], by), EndOf(ranked.front(), by))) {
    ++count;
  }
  return count;
}

std::string DelayInWords(const Strategy& strategy) {
  if (!strategy.delay || strategy.delay->seconds < kDelayWorthSaying) return {};
  return OthersDelayInWords(strategy.delay->jobs, strategy.delay->seconds);
}

void ExplainRanks(std::vector<Strategy>& strategies, const RankBy& by) {
  if (strategies.empty()) return;
  strategies.front().reasons.insert(strategies.front().reasons.begin(), WhyFirst(strategies, by));
  for (size_t i = 0; i < strategies.size(); ++i) {
    Strategy& strategy = strategies[i];
    if (i > 0) {
      std::vector<std::string> parts = Against(strategy, strategies.front());
      if (!parts.empty()) {
        strategy.reasons.insert(
            strategy.reasons.begin(),
            fmt::format("{} than {}", JoinNames(parts), Title(strategies.front())));
      }
    }
    if (!strategy.MemoryChecked() && strategies.front().MemoryChecked()) {
      strategy.notes.push_back("ranked after the rows whose memory is checked");
    }
    if (strategy.start.jobs_before > 0) {
      strategy.reasons.push_back(
          fmt::format("{} before it", Plural(strategy.start.jobs_before, "waiting job")));
    }
    if (std::string words = DelayInWords(strategy); !words.empty()) {
      strategy.reasons.push_back(std::move(words));
    }
    strategy.reasons.push_back("run time " + strategy.stages.front().basis);
  }
}

}  // namespace gpuadvise
