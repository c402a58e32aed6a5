// What the past says about a wait, beside what the simulation says: baselines, simulation and an
// on-line quantile forest, pooled by their merit, with quantiles calibrated on-line.
//
// Strictly causal: it knows what it was told, in the order of time. `Forecast` is const and changes
// nothing; a forecast becomes evidence only through `Submitted`, `Started` and `Advance`.
// Not thread-safe: one thread writes; concurrent `Forecast` calls are fine while nobody writes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/history/queue_features.h"
#include "common/history/wait_distribution.h"
#include "common/history/wait_forecast.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// What is kept of `forecast`.
ForecastRecord ForecastRecordOf(const WaitForecast& forecast);

// A value: a copy learns on its own.
class WaitLearner {
 public:
  explicit WaitLearner(uint64_t seed = 1);
  ~WaitLearner();
  WaitLearner(const WaitLearner& other);
  WaitLearner& operator=(const WaitLearner& other);
  WaitLearner(WaitLearner&&) noexcept;
  WaitLearner& operator=(WaitLearner&&) noexcept;

  // The wait of `job`, submitted at queue.taken_at(); `queue` does not count the job itself.
  WaitForecast Forecast(const QueueFeatures& queue, const JobRecord& job,
                        const SimulatedWait& simulated) const;

  // How much longer a job waits that is in the queue already. `job_id`: what was said of it at its
  // submission counts as well, as far as it has not been proved wrong; nullopt: nothing was.
  WaitDistribution ForecastWaiting(std::optional<int64_t> job_id, UnixSeconds now,
                                   const SimulatedWait& simulated) const;

  // `job` is in the queue from now on. Without a forecast record it only feeds the histories.
  void Submitted(const JobRecord& job);
  void Submitted(const JobRecord& job, std::shared_ptr<const ForecastRecord> forecast_record);

  void Started(int64_t job_id, UnixSeconds at);
  void Ended(int64_t job_id, UnixSeconds at);     // after it ran
  void Vanished(int64_t job_id, UnixSeconds at);  // left the queue without having started

  // Time has passed: pending jobs that are past their p90 count as misses; retrains when due.
  void Advance(UnixSeconds now);

  // Between the two the forest is not built: for a past that is told at once.
  void Pause();
  void Resume(UnixSeconds now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuadvise
