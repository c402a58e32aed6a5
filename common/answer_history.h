// GET /v1/history: waits and use by the hour of the week, by week and over time, of each GPU type.
//
// Only sums over all jobs are told, nothing of a single user. Pure; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/error.h"
#include "common/gpu_naming.h"
#include "common/local_time.h"
#include "common/usage_history.h"

namespace gpuadvise {

inline constexpr int64_t kMostWeeks = 57;
inline constexpr int64_t kMostSteps = 700;  // of the series

struct HistoryQuestion {
  int64_t weeks = 8;          // 1 to kMostWeeks, back from the snapshot
  std::string gpu = {};       // a catalogue id or GRES type; "" all
  bool anonymous = false;     // types that are only in hidden partitions are not told
  std::string not_kept = {};  // why the history does not outlive the daemon; "" it does
};

/// Errors: kBadInput for a GPU type that is neither in the cluster nor in the history.
Result<nlohmann::json> AnswerHistory(const HistoryQuestion& question, const UsageHistory& history,
                                     const Snapshot& snapshot, const GpuNaming& naming,
                                     const LocalTime& local);

}  // namespace gpuadvise
