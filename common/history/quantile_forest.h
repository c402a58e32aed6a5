// An on-line quantile regression forest for waits: see quantile_forest.cc for the idea.
//
// Rows are submissions: features, and a wait that is known once the job starts and is "longer than
// its age" before. Deterministic for a seed. Not thread-safe while it learns; concurrent
// predictions are fine. A value: a copy learns independently.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "common/history/wait_distribution.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct ForestOptions {
  size_t trees = 60;
  size_t least_leaf = 3;
  int max_depth = 14;
  size_t rows_per_tree = 4'000;  // at most, recent rows preferred …
  double share_per_tree = 0.7;   // … and at most this share of all
  double tried_share = 0.25;     // of the features, per node
  double censored_more = 0.5;    // a censored wait counts as this much longer, in log
  size_t kept_rows = 30'000;
  double half_life_rows = 3'000;
  size_t first_starts = 60;     // starts before the first forest
  size_t rebuild_starts = 100;  // every tree is rebuilt after this many starts …
  double rebuild_share = 0.03;  // … or this share of the rows, whichever is more
};

class QuantileForest {
 public:
  explicit QuantileForest(uint64_t seed, const ForestOptions& options = {});

  // Adds a submission as censored. Returns its row.
  int64_t Add(std::vector<float> features, UnixSeconds eligible, int64_t burst);

  // The job of `row` started after this wait; rebuilds trees that are due.
  void Started(int64_t row, double wait_seconds, UnixSeconds now);

  // The job of `row` left without starting; it stays censored at this age.
  void Vanished(int64_t row, double age_seconds);

  // nullopt before the first forest. At most half as long again as the longest wait or present age
  // in its leaves.
  std::optional<WaitDistribution> Predict(const std::vector<float>& features,
                                          UnixSeconds now) const;

  // Suspends building, for bulk loading. `Resume` builds every tree.
  void Pause() { paused_ = true; }
  void Resume(UnixSeconds now);

  int64_t starts() const { return starts_; }

 private:
  struct Row {
    std::shared_ptr<const std::vector<float>> features;  // shared between copies of the forest
    UnixSeconds eligible = 0;
    int64_t burst = 0;
    double seconds = 0;  // wait or age
    bool started = false;
    bool pending = true;  // its age still grows
  };
  struct Node {
    int feature = -1;  // -1: leaf
    float threshold = 0;
    int32_t left = 0;  // right is left + 1
    std::vector<int64_t> rows;
  };
  using Tree = std::vector<Node>;
  struct Growing;

  Row& At(int64_t row) { return rows_[static_cast<size_t>(row - first_row_)]; }
  const Row& At(int64_t row) const { return rows_[static_cast<size_t>(row - first_row_)]; }
  double TargetOf(const Row& row, UnixSeconds now) const;
  double WeightOf(const Row& row, int64_t index) const;
  void MakeBins();
  void Code(const std::vector<float>& features);
  static size_t LeafOf(const Tree& tree, const std::vector<float>& features);
  std::vector<int64_t> Draw();
  Tree Build(UnixSeconds now);
  void Split(Growing& growing, Tree& tree, size_t node, size_t from, size_t to, int depth);
  void Rebuild(UnixSeconds now);
  double Random();
  size_t Random(size_t below);

  ForestOptions options_;
  uint64_t seed_;
  uint64_t drawn_ = 0;
  std::deque<Row> rows_;
  int64_t first_row_ = 0;
  std::vector<Tree> trees_;
  std::vector<std::vector<float>> edges_;  // bin edges by feature
  std::vector<uint8_t> codes_;             // bins of the rows from first_coded_ on
  int64_t first_coded_ = 0;
  size_t next_tree_ = 0;
  double due_ = 0;  // trees due for a rebuild
  bool paused_ = false;
  int64_t starts_ = 0;
  std::vector<int64_t> burst_sizes_;
};

}  // namespace gpuadvise
