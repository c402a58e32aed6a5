#include "client/sweep/sweep_moves.h"

#include <algorithm>

namespace gpuadvise::client {
namespace {

constexpr double kWorth = 0.05;
constexpr double kWorthSeconds = 120;

// The rank of the strategy that `job` was submitted with; 0: not in the advice.
int64_t RankOf(const api::Advice& advice, const SweepJob& job) {
  for (const api::Strategy& row : advice.strategies) {
    if (row.gpu == job.gpu && row.partition == job.partition &&
        row.gpus_per_node == job.gpus_per_node && row.nodes == job.nodes) {
      return row.rank;
    }
  }
  return 0;
}

}  // namespace

bool IsWorthMoving(const api::Sweep& plan) {
  if (!plan.as_it_waits) return false;
  const auto now = static_cast<double>(plan.as_it_waits->p50_seconds);
  const auto then = static_cast<double>(plan.makespan.p90_seconds);
  return now - then > std::max(kWorth * now, kWorthSeconds);
}

SweepMoves MovesTo(const api::Advice& advice, const SweepRecord& record,
                   const std::vector<SweepRun>& runs, std::vector<int64_t> unplaced, bool moving) {
  SweepMoves moves;
  if (!advice.sweep) return moves;
  std::map<int64_t, int64_t> rank_of_array;
  for (const SweepJob& job : record.jobs) rank_of_array[job.id] = RankOf(advice, job);
  std::map<int64_t, int64_t> wanted;  // by rank
  for (const api::SweepShare& share : advice.sweep->shares) wanted[share.rank] += share.members;
  std::map<int64_t, int64_t> there;
  std::vector<const SweepRun*> waiting;
  for (const SweepRun& run : runs) {
    if (run.state != RunState::kWaiting) continue;
    waiting.push_back(&run);
    ++there[rank_of_array[run.array]];
  }
  if (moving) {
    std::reverse(waiting.begin(), waiting.end());  // those that would start last
    for (const SweepRun* run : waiting) {
      const int64_t rank = rank_of_array[run->array];
      if (run->taken || there[rank] <= wanted[rank]) continue;
      --there[rank];
      moves.cancel[run->array].push_back(run->run);
      unplaced.push_back(run->run);
    }
  }
  std::sort(unplaced.begin(), unplaced.end());
  size_t next = 0;
  for (const api::SweepShare& share : advice.sweep->shares) {
    NewArray array{share.rank, {}};
    while (next < unplaced.size() && there[share.rank] < wanted[share.rank]) {
      array.tasks.push_back(unplaced[next++]);
      ++there[share.rank];
    }
    if (!array.tasks.empty()) moves.submit.push_back(std::move(array));
  }
  if (next < unplaced.size() && !advice.sweep->shares.empty()) {  // without moves: to the first
    const int64_t first = advice.sweep->shares.front().rank;
    if (moves.submit.empty() || moves.submit.front().rank != first) {
      moves.submit.insert(moves.submit.begin(), {first, {}});
    }
    auto& tasks = moves.submit.front().tasks;
    tasks.insert(tasks.end(), unplaced.begin() + static_cast<std::ptrdiff_t>(next), unplaced.end());
    std::sort(tasks.begin(), tasks.end());
  }
  for (auto& [array, tasks] : moves.cancel) std::sort(tasks.begin(), tasks.end());
  return moves;
}

}  // namespace gpuadvise::client
