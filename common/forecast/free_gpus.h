// Expected number of free GPUs over time: the simulated futures of the queue, counted.
//
// The same futures as those of forecast starts, but each is played to the end of the period, with
// the jobs that arrive until then. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/scheduler/queue_model.h"

namespace gpuadvise {

inline constexpr int64_t kFreeSeconds = 48 * 3600;  // how far ahead
inline constexpr int64_t kFreeStepSeconds = 900;

// GPUs that no job holds, over all futures: on usable nodes that no reservation holds, with a CPU
// and memory left. In groups of many equal nodes (node_groups.h) GPUs without a CPU of their node
// count as free.
struct FreeCount {
  int64_t p10 = 0;
  int64_t p50 = 0;
  int64_t p90 = 0;
  friend bool operator==(const FreeCount&, const FreeCount&) = default;
};

struct FreeForecast {
  int samples = 0;
  int64_t watched_seconds = 0;  // of submissions, which arriving jobs are drawn from
  // By type; at the beginning of each step, the first one now. Shorter than kFreeSeconds where a
  // long queue, played once for all questions, has started before, or where all was spent.
  std::map<std::string, std::vector<FreeCount>> types;
};

// The type that GPUs of a GRES type on a node count for; "": none.
using TypeOfGpus =
    std::function<std::string(const std::string& node, const std::string& gres_type)>;

// `spent`: share of the time that it may take, as for SimulateFutures().
FreeForecast ForecastFreeGpus(const QueueModel& queue, const TypeOfGpus& type_of,
                              const std::function<double()>& spent);

}  // namespace gpuadvise
