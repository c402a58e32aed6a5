// The order of strategies, and why it is that order.
//
// finish: the median of wait + run; start: the median wait; cost: price, or GPU-hours where no
// price is known for all; deadline: the cheapest of those that make it with 90 %, then the
// likeliest. Ties go to the earlier 90th percentile, to the earlier finish, then to fewer GPUs.
// Pure; deterministic.
//
// Times are compared by their medians because these are what every table shows: an order by another
// statistic contradicts its own columns. Medians do not add up: that of the end is the median of
// the sums, not the sum of two medians. Prices and GPU-hours are expectations, those of the mean
// run.
#pragma once

#include <optional>
#include <vector>

#include "common/advise/strategy.h"

namespace gpuadvise {

struct RankBy {
  Objective objective = Objective::kFinish;
  std::optional<double> seconds_to_deadline;  // from the snapshot; there with kDeadline
};

// A strategy that is done by the deadline with this probability makes it.
inline constexpr double kSureEnough = 0.90;

// Sorts `strategies`, best first. To finish first, a row that ends within 3 % or a minute of the
// earliest and takes clearly fewer GPU-hours goes before it.
void RankStrategies(std::vector<Strategy>& strategies, const RankBy& by);

// Probability that `strategy` is done `seconds` from now, 0..1.
double ChanceToFinishBy(const Strategy& strategy, double seconds);

// Adds the reasons for each place: why the first is first, what each other one loses against it.
void ExplainRanks(std::vector<Strategy>& strategies, const RankBy& by);

}  // namespace gpuadvise
