// The live forecast: learns from one snapshot to the next.
//
// Each snapshot becomes a ForecastState that any number of threads may query. Events since the
// previous snapshot join the history. Each new job is forecast as of its submission, from the state
// just before it, and scored when it starts. Pure: time comes with the snapshots. One thread at a
// time may use `LiveForecast`.
#pragma once

#include <memory>
#include <vector>

#include "common/forecast/queue_watch.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// The state as of one snapshot with all earlier history. Immutable; all members are set.
struct ForecastState {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const ForecastHistory> past;
  std::shared_ptr<const QueueModel> queue;          // built from both, which must outlive it
  std::shared_ptr<const QueueModel> by_time_limit;  // every job runs to its limit
};

// Result of one snapshot.
struct LiveStep {
  std::shared_ptr<const ForecastState> state;
  std::vector<PastJob> changed;  // jobs with events, in their current state, in order
  int64_t not_forecast = 0;      // submissions skipped because there were too many
};

// Most submissions forecast per snapshot.
inline constexpr int kForecastsPerSnapshot = 64;

// Longer queues are simulated once for all questions; docs/forecast.md reports the loss.
inline constexpr size_t kLongQueue = 2'000;

// The sample count behind the figures in docs/forecast.md.
SimulationOptions LiveOptions();

class LiveForecast {
 public:
  explicit LiveForecast(const SimulationOptions& options = LiveOptions());

  // Starts from stored history. Its open jobs are expected in the next snapshot; missing ones are
  // forgotten.
  void Restore(ForecastHistory past);

  // Processes the next snapshot. If it is older than the last (clock set back), nothing is forecast
  // for the time between.
  LiveStep See(std::shared_ptr<const Snapshot> snapshot);

 private:
  class Learner;

  void AskAgain(ForecastHistory& past);
  std::shared_ptr<const ForecastState> MakeState(std::shared_ptr<const Snapshot> snapshot,
                                                 std::shared_ptr<ForecastHistory> past) const;

  SimulationOptions options_;
  QueueWatch watch_;
  std::shared_ptr<const ForecastState> last_;    // null before the first snapshot
  std::shared_ptr<const ForecastHistory> past_;  // of last_, or restored; never null
  UnixSeconds asked_at_ = 0;  // last time all waiting jobs were asked about; 0: never
  bool restored_ = false;     // past_ has jobs from before the daemon started
};

}  // namespace gpuadvise
