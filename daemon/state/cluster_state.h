// The state of the cluster that answers are made from: the newest snapshot with all that came
// before it (common/forecast/live_forecast.h). Nothing but a snapshot puts a job into it.
//
// Readers get an immutable DaemonState and keep it as long as they like. Preparing one is done by
// the thread that brings the news (a worker), one at a time; several pieces of news that arrive
// while one is being prepared share the next. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/forecast/free_gpus.h"
#include "common/forecast/live_forecast.h"
#include "common/forecast/queue_starts.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/submitter.h"
#include "daemon/base/clock.h"
#include "daemon/settings/catalogues.h"
#include "daemon/state/array_ends.h"

namespace gpuadvise::daemon {

// One consistent picture. All members are set.
struct DaemonState : ForecastState {
  std::shared_ptr<const Catalogues> catalogues;
  UnixSeconds received_at = 0;             // by the daemon's clock
  double prepared_in_seconds = 0;          // from the snapshot to this state
  std::vector<std::string> site_problems;  // daemon/state/site_problems.h

  // What questions are answered from: references into this, which has to outlive it.
  AdviceContext Context(ForEach for_each = Serial, const LearnedRuns* learned = nullptr,
                        WorkBudget* budget = nullptr) const;

  // A caller without an account, in the place that the settings choose for it.
  Submitter Anybody() const;

  // What GPUs there are.
  const std::vector<GpuPool>& Pools() const { return pools_->Of(*snapshot, catalogues->gpus); }

  // When everybody in the queue will start: worked out when it is first asked for.
  const QueueStarts& Starts() const;

  // When the arrays that wait will have ended, likewise.
  const ArrayEnds& Ends() const;

  // How many GPUs of each type, by catalogue id, will be free: worked out as above.
  const FreeForecast& Free() const;

 private:
  template <typename T>
  struct Once {
    std::once_flag flag;
    T value;
  };
  std::shared_ptr<Once<QueueStarts>> starts_ = std::make_shared<Once<QueueStarts>>();
  std::shared_ptr<Once<ArrayEnds>> ends_ = std::make_shared<Once<ArrayEnds>>();
  std::shared_ptr<Once<FreeForecast>> free_ = std::make_shared<Once<FreeForecast>>();
  std::shared_ptr<KnownGpuPools> pools_ = std::make_shared<KnownGpuPools>();
};

// How good the picture is.
struct Freshness {
  int64_t age_seconds = 0;
  std::optional<std::string> cause;  // why no newer one came; nullopt while they arrive
  std::string passed_over = {};  // why sources before the one in use were not taken; "" for none
};

class RetiredStates;

class ClusterState {
 public:
  // `clock` must outlive the state. `stale_after_seconds`: an older picture has a cause.
  ClusterState(const Clock& clock, std::shared_ptr<const Catalogues> catalogues,
               int64_t stale_after_seconds);

  // Gets the jobs that something happened to, and the snapshot that shows it.
  using OnJobsChanged = std::function<void(std::vector<PastJob>, const Snapshot&)>;

  // `on_jobs_changed` is called after each snapshot, also where nothing happened, on the thread
  // that brought it. Call before the first one.
  void SetOnJobsChanged(OnJobsChanged on_jobs_changed);

  // `on_new_state` is called after each new state, on the thread that made it. Call before the
  // first.
  void SetOnNewState(std::function<void()> on_new_state);

  // From the next snapshot on what was learned is what `load` gives, which is called at once;
  // no snapshot is taken in meanwhile.
  void Restore(const std::function<ForecastHistory()>& load);

  // nullptr before the first snapshot.
  std::shared_ptr<const DaemonState> state() const;

  // Age of `state` (which may be null) and the cause.
  Freshness FreshnessOf(const DaemonState* state) const;

  // A snapshot from the collector: clears the cause, prepares the state.
  void Accept(std::shared_ptr<const Snapshot> snapshot);

  // Why no newer snapshot comes.
  void SetCause(std::string cause);

  // Why the sources before the one that delivers were not taken; "" for none.
  void SetPassedOver(std::string causes);

  void SetCatalogues(std::shared_ptr<const Catalogues> catalogues);
  void SetStaleAfter(int64_t seconds);

 private:
  void Prepare();
  void Observe(std::shared_ptr<const Snapshot> snapshot);  // REQUIRES: preparing_ held

  const Clock& clock_;
  const std::shared_ptr<RetiredStates> retired_;
  std::mutex preparing_;   // one Prepare() at a time; taken before mutex_; guards until mutex_
  uint64_t prepared_ = 0;  // the news in state_
  std::vector<std::string> said_problems_;  // of the site, in the log
  LiveForecast live_;
  std::shared_ptr<const ForecastState> forecast_;  // of the newest snapshot that live_ has seen
  OnJobsChanged on_jobs_changed_;
  std::function<void()> on_new_state_;

  mutable std::mutex mutex_;  // guards all below
  uint64_t news_ = 0;
  std::shared_ptr<const Snapshot> base_;
  UnixSeconds received_at_ = 0;
  std::shared_ptr<const Catalogues> catalogues_;
  std::shared_ptr<const DaemonState> state_;
  std::optional<std::string> cause_;
  std::string passed_over_;
  int64_t stale_after_seconds_;
};

}  // namespace gpuadvise::daemon
