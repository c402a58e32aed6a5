// A forest that answers with a distribution and never goes stale.
//
// Problem. Waits on a real site follow rules that no table shows: holds, private policies, habits.
// What can be seen at submission (queue, free nodes, own jobs, last waits) predicts them well, but
// the relation drifts within days, and the jobs that say most about now are the ones still waiting.
//
// Idea. Extremely randomised trees (Geurts, Ernst, Wehenkel 2006) on log(wait + 60 s), used as a
// quantile regression forest (Meinshausen 2006): a prediction pools the rows in the leaves that the
// submission falls into. Two things keep it fresh. Every new submission enters its leaves at once,
// censored at its present age, so that a queue that has stopped moving shows before anything has
// started; and after each start the oldest trees are rebuilt, so that all are rebuilt every hundred
// starts without ever stopping for it. Censored rows are why the pool is read as a Kaplan-Meier
// estimate (1958), with rows weighted by recency and jobs of one burst sharing one weight.
//
// Cost. A tree of 4,000 rows some 4 ms; a prediction some 0.1 ms.
//
// Where it is wrong. It needs some 60 starts to say anything, and cannot tell of states it has not
// seen: that is what the simulation is for.
#include "common/history/quantile_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/base/job_random.h"

namespace gpuadvise {
namespace {

constexpr double kLogOffset = 60;
constexpr size_t kRowsForBins = 1'000;

double LogWait(double seconds) { return std::log(std::max(seconds, 0.0) + kLogOffset); }

struct Observed {
  double seconds = 0;
  double weight = 0;
  bool started = false;
};

// Kaplan-Meier; what is censored last lies beyond everything, at `cap`.
WaitDistribution KaplanMeier(std::vector<Observed>& rows, double cap) {
  std::sort(rows.begin(), rows.end(), [](const Observed& a, const Observed& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.started > b.started;
  });
  double at_risk = 0;
  for (const Observed& row : rows) at_risk += row.weight;
  double surviving = 1;
  std::vector<WeightedWait> points;
  double longest = 0;
  for (const Observed& row : rows) {
    longest = std::max(longest, row.seconds);
    if (row.started && at_risk > 1e-12) {
      const double share = std::min(row.weight / at_risk, 1.0);
      points.push_back({row.seconds, surviving * share});
      surviving *= 1 - share;
    }
    at_risk -= row.weight;
  }
  if (surviving > 1e-9 || points.empty()) {
    // Nothing says how much longer; half as long again, at most the cap.
    points.push_back({std::max(longest, std::min(1.5 * longest, cap)), std::max(surviving, 1e-9)});
  }
  return WaitDistribution::OfWeighted(std::move(points));
}

}  // namespace

QuantileForest::QuantileForest(uint64_t seed, const ForestOptions& options)
    : options_(options), seed_(seed) {}

double QuantileForest::Random() { return UniformOf(seed_, 7, ++drawn_); }

double QuantileForest::TargetOf(const Row& row, UnixSeconds now) const {
  return LogWait(row.pending ? static_cast<double>(now - row.eligible) : row.seconds) +
         (row.started ? 0 : options_.censored_more);
}

double QuantileForest::WeightOf(const Row& row, int64_t index) const {
  const auto age = static_cast<double>(first_row_ + static_cast<int64_t>(rows_.size()) - index);
  const auto burst = static_cast<size_t>(row.burst);
  const double fellows = burst < burst_sizes_.size()
                             ? static_cast<double>(std::max<int64_t>(burst_sizes_[burst], 1))
                             : 1;
  return std::exp2(-age / options_.half_life_rows) / fellows;
}

int64_t QuantileForest::Add(std::vector<float> features, UnixSeconds eligible, int64_t burst) {
  const int64_t index = first_row_ + static_cast<int64_t>(rows_.size());
  Row row;
  row.eligible = eligible;
  row.burst = burst;
  if (static_cast<size_t>(burst) >= burst_sizes_.size()) {
    burst_sizes_.resize(static_cast<size_t>(burst) + 1, 0);
  }
  ++burst_sizes_[static_cast<size_t>(burst)];
  for (Tree& tree : trees_) tree[LeafOf(tree, features)].rows.push_back(index);
  if (!edges_.empty()) Code(features);
  row.features = std::make_shared<const std::vector<float>>(std::move(features));
  rows_.push_back(std::move(row));
  if (rows_.size() > options_.kept_rows) {
    rows_.pop_front();
    ++first_row_;
  }
  return index;
}

void QuantileForest::Started(int64_t row, double wait_seconds, UnixSeconds now) {
  ++starts_;
  if (row >= first_row_) {
    At(row).seconds = std::max(wait_seconds, 0.0);
    At(row).started = true;
    At(row).pending = false;
  }
  Rebuild(now);
}

void QuantileForest::Vanished(int64_t row, double age_seconds) {
  if (row < first_row_) return;
  At(row).seconds = std::max(age_seconds, 0.0);
  At(row).pending = false;
}

void QuantileForest::Rebuild(UnixSeconds now) {
  if (paused_ || starts_ < static_cast<int64_t>(options_.first_starts)) return;
  if (trees_.empty()) {
    MakeBins();
    for (size_t i = 0; i < options_.trees; ++i) trees_.push_back(Build(now));
    return;
  }
  const double every = std::max(static_cast<double>(options_.rebuild_starts),
                                options_.rebuild_share * static_cast<double>(rows_.size()));
  for (due_ += static_cast<double>(options_.trees) / every; due_ >= 1; due_ -= 1) {
    if (next_tree_ == 0) MakeBins();
    trees_[next_tree_] = Build(now);
    next_tree_ = (next_tree_ + 1) % trees_.size();
  }
}

void QuantileForest::Resume(UnixSeconds now) {
  paused_ = false;
  trees_.clear();
  Rebuild(now);
}

size_t QuantileForest::LeafOf(const Tree& tree, const std::vector<float>& features) const {
  size_t node = 0;
  while (tree[node].feature >= 0) {
    const bool right = features[static_cast<size_t>(tree[node].feature)] > tree[node].threshold;
    node = static_cast<size_t>(tree[node].left) + (right ? 1 : 0);
  }
  return node;
}

// Bins of equal counts by a draw of rows, and the bins of all rows.
void QuantileForest::MakeBins() {
  const size_t features = rows_.front().features->size();
  edges_.assign(features, {});
  std::vector<const float*> drawn;
  const size_t count = std::min(rows_.size(), kRowsForBins);
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(Random() * static_cast<double>(rows_.size()));
    drawn.push_back(rows_[at].features->data());
  }
  std::vector<float> values(count);
  for (size_t f = 0; f < features; ++f) {
    for (size_t i = 0; i < count; ++i) values[i] = drawn[i][f];
    std::sort(values.begin(), values.end());
    size_t last = 0;
    for (size_t b = 1; b < options_.bins; ++b) {
      size_t at = b * count / options_.bins;
      while (at < count && at > 0 && values[at] == values[at - 1]) ++at;  // an edge lies between values
      if (at >= count || at <= last) continue;
      last = at;
      edges_[f].push_back(values[at - 1] + (values[at] - values[at - 1]) / 2);
    }
  }
  first_coded_ = first_row_;
  codes_.clear();
  codes_.reserve(rows_.size() * features * 11 / 10);
  for (const Row& row : rows_) Code(*row.features);
}

void QuantileForest::Code(const std::vector<float>& features) {
  for (size_t f = 0; f < features.size(); ++f) {
    uint8_t bin = 0;
    for (const float edge : edges_[f]) bin = static_cast<uint8_t>(bin + (features[f] > edge ? 1 : 0));
    codes_.push_back(bin);
  }
}

struct QuantileForest::Growing {
  struct Bin {
    double sum = 0;
    double weight = 0;
    double count = 0;
  };
  size_t features = 0;
  std::vector<int64_t> rows;
  std::vector<uint8_t> codes;   // of rows, row by row
  std::vector<double> targets;  // of rows
  std::vector<double> weights;
  std::vector<uint32_t> order;  // places in rows, by leaf
  std::vector<uint32_t> tried;
  std::vector<Bin> bins;
};

// The tree's shape from a draw of rows, recent ones more often; its leaves then hold the rows
// drawn.
QuantileForest::Tree QuantileForest::Build(UnixSeconds now) {
  Growing growing;
  growing.features = edges_.size();
  const auto count = static_cast<double>(rows_.size());
  const auto wanted =
      std::min(static_cast<double>(options_.rows_per_tree), options_.share_per_tree * count);
  // Each row by its chance: halved every half-life, scaled to the wanted number.
  std::vector<double> chances(rows_.size());
  double scale = 1;
  if (options_.uniform_draw > 0) {
    for (double& chance : chances) chance = wanted / count;
  } else {
    for (size_t i = 0; i < rows_.size(); ++i) {
      chances[i] = std::exp2(-(count - static_cast<double>(i)) / options_.half_life_rows);
    }
    for (int round = 0; round < 20; ++round) {
      double sum = 0;
      for (const double chance : chances) sum += std::min(scale * chance, 0.8);
      if (sum >= wanted * .99) break;
      scale *= wanted / sum;
    }
    double sum = 0;
    for (const double chance : chances) sum += std::min(scale * chance, 0.8);
    if (sum > wanted) scale *= wanted / sum;
  }
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (Random() < std::min(scale * chances[i], 0.8)) {
      growing.rows.push_back(first_row_ + static_cast<int64_t>(i));
    }
  }
  double mean = 0;
  for (const int64_t index : growing.rows) {
    const Row& row = At(index);
    const auto code = codes_.begin() + (index - first_coded_) * static_cast<int64_t>(growing.features);
    growing.codes.insert(growing.codes.end(), code, code + static_cast<int64_t>(growing.features));
    growing.targets.push_back(TargetOf(row, now));
    mean += growing.targets.back();
    growing.order.push_back(static_cast<uint32_t>(growing.order.size()));
    const double fellows = static_cast<double>(std::max<int64_t>(burst_sizes_[static_cast<size_t>(row.burst)], 1));
    growing.weights.push_back(std::pow(fellows, -options_.weigh_bursts) * std::exp2(-options_.weigh_age * (count - static_cast<double>(index - first_row_)) / options_.half_life_rows));
  }
  mean /= static_cast<double>(std::max<size_t>(growing.rows.size(), 1));
  for (double& target : growing.targets) target -= mean;
  growing.tried.resize(growing.features);
  std::iota(growing.tried.begin(), growing.tried.end(), 0U);
  growing.bins.resize(growing.features * options_.bins);
  Tree tree(1);
  Split(growing, tree, 0, 0, growing.rows.size(), 0);
  if (options_.fill > 0) {
    const int64_t end = first_row_ + static_cast<int64_t>(rows_.size());
    for (Node& node : tree) node.rows.clear();
    for (int64_t index = std::max(first_row_, end - static_cast<int64_t>(options_.fill)); index < end; ++index) {
      tree[LeafOf(tree, *At(index).features)].rows.push_back(index);
    }
  }
  return tree;
}

void QuantileForest::Split(Growing& growing, Tree& tree, size_t node, size_t from, size_t to, int depth) {
  const size_t rows = to - from;
  const auto leaf = [&] {
    for (size_t i = from; i < to; ++i) tree[node].rows.push_back(growing.rows[growing.order[i]]);
  };
  const auto least = static_cast<double>(options_.least_leaf);
  if (rows < 2 * options_.least_leaf || depth >= options_.max_depth) return leaf();
  const auto tries = std::max<size_t>(static_cast<size_t>(options_.tried_share * static_cast<double>(growing.features)), 1);
  for (size_t t = 0; t < tries; ++t) {
    const auto other = t + static_cast<size_t>(Random() * static_cast<double>(growing.features - t));
    std::swap(growing.tried[t], growing.tried[std::min(other, growing.features - 1)]);
  }
  const size_t bins = options_.bins;
  std::fill_n(growing.bins.begin(), tries * bins, Growing::Bin{});
  double all = 0;
  double all_weight = 0;
  for (size_t i = from; i < to; ++i) {
    const size_t row = growing.order[i];
    const uint8_t* codes = &growing.codes[row * growing.features];
    const double weight = growing.weights[row];
    const double target = growing.targets[row] * weight;
    all += target;
    all_weight += weight;
    Growing::Bin* bin = growing.bins.data();
    for (size_t t = 0; t < tries; ++t, bin += bins) {
      Growing::Bin& one = bin[codes[growing.tried[t]]];
      one.sum += target;
      one.weight += weight;
      one.count += 1;
    }
  }
  double best = all * all / all_weight + 1e-9;
  size_t best_feature = growing.features;
  size_t best_bin = 0;
  for (size_t t = 0; t < tries; ++t) {
    const Growing::Bin* bin = &growing.bins[t * bins];
    Growing::Bin left;
    const size_t last = edges_[growing.tried[t]].size();
    size_t lo = 0, hi = last;
    if (options_.random_cut > 0) {
      size_t a = 0, z = last;
      while (a < z && bin[a].count == 0) ++a;
      while (z > a && bin[z].count == 0) --z;
      if (a == z) continue;
      lo = a + static_cast<size_t>(Random() * static_cast<double>(z - a));
      hi = lo + 1;
    }
    for (size_t b = 0; b < hi; ++b) {
      if (bin[b].count == 0 && b > lo) continue;
      left.sum += bin[b].sum;
      left.weight += bin[b].weight;
      left.count += bin[b].count;
      if (b < lo || left.count < least) continue;
      if (static_cast<double>(rows) - left.count < least) break;
      const double right = all - left.sum;
      const double gain = left.sum * left.sum / left.weight + right * right / (all_weight - left.weight);
      if (gain <= best) continue;
      best = gain;
      best_feature = growing.tried[t];
      best_bin = b;
    }
  }
  if (best_feature == growing.features) return leaf();
  const auto begin = growing.order.begin() + static_cast<int64_t>(from);
  const auto middle = std::stable_partition(begin, growing.order.begin() + static_cast<int64_t>(to), [&](uint32_t row) {
    return growing.codes[row * growing.features + best_feature] <= best_bin;
  });
  const size_t cut = from + static_cast<size_t>(middle - begin);
  const auto left_node = static_cast<int32_t>(tree.size());
  tree[node].feature = static_cast<int>(best_feature);
  tree[node].threshold = edges_[best_feature][best_bin];
  tree[node].left = left_node;
  tree.resize(tree.size() + 2);
  Split(growing, tree, static_cast<size_t>(left_node), from, cut, depth + 1);
  Split(growing, tree, static_cast<size_t>(left_node) + 1, cut, to, depth + 1);
}

std::optional<WaitDistribution> QuantileForest::Predict(const std::vector<float>& features,
                                                        UnixSeconds now, double cap_seconds) const {
  if (trees_.empty()) return std::nullopt;
  std::vector<Observed> pooled;
  for (const Tree& tree : trees_) {
    const std::vector<int64_t>& leaf = tree[LeafOf(tree, features)].rows;
    double sum = 0;
    const size_t from = pooled.size();
    for (const int64_t index : leaf) {
      if (index < first_row_) continue;
      const Row& row = At(index);
      const double weight = WeightOf(row, index);
      const double seconds =
          row.pending ? std::max(static_cast<double>(now - row.eligible), 0.0) : row.seconds;
      pooled.push_back({seconds, weight, row.started});
      sum += weight;
    }
    for (size_t i = from; i < pooled.size(); ++i) if (options_.normal > 0) pooled[i].weight /= std::max(sum, 1e-12);
  }
  if (pooled.empty()) return std::nullopt;
  return KaplanMeier(pooled, cap_seconds);
}

}  // namespace gpuadvise
