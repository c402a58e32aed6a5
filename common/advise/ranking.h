// The order of strategies, and why it is that order.
//
// finish: half way between the median and the 90th percentile of wait + run, to which the site may
// have added what the job costs others, by its courtesy; start: the median wait; cost: price, or
// GPU-hours where no price is known for all; deadline: the cheapest of those that make it with 90
// %, then the likeliest. Ties go to the earlier 90th percentile, to the earlier finish, then to
// fewer GPUs. Pure; deterministic.
//
// Tables show medians and 90th percentiles. The median alone would prefer a wait that is mostly
// short and sometimes very long, which costs those who follow it, and others, hours on average
// (docs/forecast.md, "When everybody follows one rule"). Quantiles do not add up: those of the end
// are quantiles of the sums, not sums of quantiles. Prices and GPU-hours are expectations, those of
// the mean run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/advise/strategy.h"
#include "common/base/ranked_end.h"

namespace gpuadvise {

struct RankBy {
  Objective objective = Objective::kFinish;
  std::optional<double> seconds_to_deadline;  // from the snapshot; there with kDeadline
  double courtesy = 0;        // seconds of the end that a second of others' delay counts, 0 … 1
  double caution = kCaution;  // kFinish: weight of the 90th percentile against the median, 0 … 1
};

// A strategy that is done by the deadline with this probability makes it.
inline constexpr double kSureEnough = 0.90;

// Sorts `strategies`, best first. To finish first, of the rows that end within 3 % or a minute of
// the earliest, the one that delays others clearly less goes before it; where that is not known, or
// alike, the one that takes clearly fewer GPU-hours.
void RankStrategies(std::vector<Strategy>& strategies, const RankBy& by);

// How many of the ranked strategies end about when the first does: what they cost others decides.
size_t CountAlike(const std::vector<Strategy>& ranked, const RankBy& by);

// "delays 6 jobs of others by 40 m together"; "" where it delays nobody, or that is not known.
std::string DelayInWords(const Strategy& strategy);

// Probability that `strategy` is done `seconds` from now, 0..1.
double ChanceToFinishBy(const Strategy& strategy, double seconds);

// Adds the reasons for each place: why the first is first, what each other one loses against it.
void ExplainRanks(std::vector<Strategy>& strategies, const RankBy& by);

}  // namespace gpuadvise
