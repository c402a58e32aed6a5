// Learned forecasts of waits: baselines, simulation and an on-line quantile forest, pooled by
// accuracy and calibrated on-line.
//
// Strictly causal: takes events in order of time. `Forecast` is const; a forecast becomes evidence
// only through `Submitted`, `Started` and `Advance`. Not thread-safe: one writer; concurrent
// `Forecast` calls only without a writer.
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

// The record to keep of `forecast`.
ForecastRecord MakeForecastRecord(const WaitForecast& forecast);

// A value: a copy learns independently.
class WaitLearner {
 public:
  explicit WaitLearner(uint64_t seed = 1);
  ~WaitLearner();
  WaitLearner(const WaitLearner& other);
  WaitLearner& operator=(const WaitLearner& other);
  WaitLearner(WaitLearner&&) noexcept;
  WaitLearner& operator=(WaitLearner&&) noexcept;

  // The wait of `job`, submitted at queue.taken_at(); `queue` excludes the job itself.
  WaitForecast Forecast(const QueueFeatures& queue, const JobRecord& job,
                        const SimulatedWait& simulated) const;

  // Remaining wait of a queued job. `job_id`: the forecast at its submission also counts, as far as
  // it is not refuted; nullopt: none. For a job held for an unseen reason only that forecast and
  // its current age count.
  WaitDistribution ForecastWaiting(std::optional<int64_t> job_id, UnixSeconds now,
                                   const SimulatedWait& simulated) const;

  // Keeps this forecast, once per age class, until the job starts: it calibrates forecasts of
  // waiting jobs at that age.
  void AskedAgain(int64_t job_id, UnixSeconds now, const SimulatedWait& simulated);

  // `job` enters the queue. Without a forecast record it only feeds the histories.
  void Submitted(const JobRecord& job);
  void Submitted(const JobRecord& job, std::shared_ptr<const ForecastRecord> forecast_record);

  void Started(int64_t job_id, UnixSeconds at);
  void Ended(int64_t job_id, UnixSeconds at);     // after running
  void Vanished(int64_t job_id, UnixSeconds at);  // left the queue without a start

  // Advances time: pending jobs past their p90 count as misses; retrains when due.
  void Advance(UnixSeconds now);

  // Suspends building the forest, for bulk loading.
  void Pause();
  void Resume(UnixSeconds now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuadvise
