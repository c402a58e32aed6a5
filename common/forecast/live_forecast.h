// The forecast alive: from each snapshot of a cluster to the next, learning on the way.
//
// Every snapshot becomes an ForecastState, from which any number of threads answer questions. What
// happened since the one before becomes part of the past; each job that appeared is forecast as of
// its submission, from the state just before it, and scored when it starts. Pure: time comes with
// the snapshots. `LiveForecast` itself is used by one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "common/forecast/queue_watch.h"
#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// The state as of one snapshot with all that came before it. Immutable; all members are set.
struct ForecastState {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const ForecastHistory> past;
  std::shared_ptr<const QueueModel> queue;  // prepared from both; lives no longer than they do
  std::shared_ptr<const QueueModel> by_time_limit;  // where every job runs until its limit
};

// What one snapshot brought.
struct LiveStep {
  std::shared_ptr<const ForecastState> state;
  std::vector<PastJob> changed;  // jobs that something happened to, as they are now; in order
  int64_t not_forecast = 0;      // submissions that were too many to forecast
};

// Submissions that are forecast at each snapshot at most.
inline constexpr int kForecastsPerSnapshot = 64;

// A longer queue is played once for all questions: docs/forecast.md says what that loses.
inline constexpr size_t kLongQueue = 2'000;

// As many samples as the figures of docs/forecast.md were made with.
SimulationOptions LiveOptions();

class LiveForecast {
 public:
  explicit LiveForecast(const SimulationOptions& options = LiveOptions());

  // Begins from what a history knows. Jobs in it that have not ended are expected in the next
  // snapshot; those that are not in it are forgotten.
  void Restore(ForecastHistory past);

  // The next snapshot. One that is older than the last (a clock that went back) is taken as it
  // is; nothing is forecast for what happened in between.
  LiveStep See(std::shared_ptr<const Snapshot> snapshot);

  // The same state with jobs that no snapshot shows yet. Changes nothing here.
  std::shared_ptr<const ForecastState> With(std::shared_ptr<const Snapshot> merged) const;

 private:
  class Learner;

  void AskAgain(ForecastHistory& past);
  std::shared_ptr<const ForecastState> MakeState(std::shared_ptr<const Snapshot> snapshot,
                                                 std::shared_ptr<ForecastHistory> past) const;

  SimulationOptions options_;
  QueueWatch watch_;
  std::shared_ptr<const ForecastState> last_;    // null before the first snapshot
  std::shared_ptr<const ForecastHistory> past_;  // of last_, or restored; never null
  UnixSeconds asked_at_ = 0;  // when all who waited were last asked about; 0: never
  bool restored_ = false;     // past_ has jobs of before the daemon started
};

}  // namespace gpuadvise
