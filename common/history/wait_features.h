// Features of a submission for the forest: queue, free resources, own and account's work, ages,
// recent use, last waits, and other experts' forecasts. Heavy-tailed ones as log1p.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/history/queue_features.h"
#include "common/history/wait_distribution.h"
#include "common/history/wait_forecast.h"
#include "common/slurm/job_record.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Exponentially decaying sums of recent use and starts. Causal; not thread-safe.
class RecentUse {
 public:
  void Started(const JobRecord& job, double wait_seconds, UnixSeconds at);
  void Ended(const JobRecord& job, UnixSeconds at);
  void Submitted(const JobRecord& job, UnixSeconds at);

  // Appends the recent history of `job`'s user, account, partition and shape.
  void Append(const JobRecord& job, UnixSeconds now, std::vector<float>& features) const;

 private:
  struct Decayed {
    double value = 0;
    UnixSeconds at = 0;
    double At(UnixSeconds now, double half_life) const;
    void Add(double more, UnixSeconds now, double half_life);
  };
  struct LastWaits {
    double last = -1;  // seconds
    double mean = 0;   // of log(wait + 60), recent ones weigh more
    UnixSeconds at = 0;
  };
  using Sums = std::unordered_map<std::string, Decayed>;
  using Waits = std::unordered_map<std::string, LastWaits>;

  static double Look(const Sums& sums, const std::string& key, UnixSeconds now, double half_life);

  Sums use_;        // GPU (else CPU) seconds by user, account
  Sums submitted_;  // jobs by user, partition
  Sums started_;    // jobs by partition
  Waits waits_;     // by user, by shape, by partition
};

// Fixed number and order.
inline constexpr size_t kWaitFeatures = 80;

std::vector<float> ComputeWaitFeatures(const QueueFeatures& queue, const JobRecord& job,
                                       const SimulatedWait& simulated, const RecentUse& recent,
                                       const WaitDistribution& like_states,
                                       const WaitDistribution& in_partition);

}  // namespace gpuadvise
