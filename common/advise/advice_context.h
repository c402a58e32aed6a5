// What a question about the cluster is answered from. A value of references: whoever makes it keeps
// them alive. Safe from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "common/base/for_each.h"
#include "common/base/work_budget.h"
#include "common/forecast/start_of.h"
#include "common/gpu/gpu_naming.h"
#include "common/gpu/gpu_pool.h"
#include "common/models/model_presets.h"
#include "common/runs/learned_runs.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// FindGpuPools(snapshot, gpus), by whoever asks first.
class KnownGpuPools {
 public:
  const std::vector<GpuPool>& Of(const Snapshot& snapshot, const GpuNaming& gpus) {
    std::call_once(flag_, [&] { pools_ = FindGpuPools(snapshot, gpus); });
    return pools_;
  }

 private:
  std::once_flag flag_;
  std::vector<GpuPool> pools_;
};

// One consistent view of the cluster, for the length of one request.
struct AdviceContext {
  const Snapshot& snapshot;
  const QueueModel& queue;          // PrepareQueue(snapshot, …)
  const QueueModel& by_time_limit;  // PrepareQueue(snapshot)
  const GpuNaming& gpus;
  const ModelPresets& models;            // config/models
  ForEach for_each = Serial;             // how forecasts that do not depend on each other are made
  const LearnedRuns* learned = nullptr;  // what runs have shown; nullptr: nothing
  WorkBudget* budget = nullptr;          // of the answer; nullptr: no end
  double courtesy = 0;                   // the site's weight of what a job costs others, 0 … 1
  // Of this snapshot and these names; shared by all views of them.
  std::shared_ptr<KnownGpuPools> known_pools = std::make_shared<KnownGpuPools>();

  const std::vector<GpuPool>& Pools() const { return known_pools->Of(snapshot, gpus); }

  // Whether to begin nothing more; what is there is no answer then, and BudgetError() is.
  bool BudgetSpent() const { return budget != nullptr && budget->Spent(); }
  // Whether to begin what an answer can do without: remedies, tips.
  bool HasRoomForExtras() const { return budget == nullptr || budget->HasRoom(); }
  // Of a forecast, at most: all, or as few as say something.
  size_t Samples() const { return HasRoomForExtras() ? kAllSamples : kLeastSamples; }
  // Whether something was left out already: to be asked after for_each.
  bool Stopped() const { return budget != nullptr && budget->stopped(); }
  tl::unexpected<Error> BudgetError() const { return tl::unexpected<Error>(budget->error()); }
};

}  // namespace gpuadvise
