// One job of a request, as sbatch's own words in JSON (docs/api.md, POST /v1/when), read into what
// the forecast asks about. Pure; errors carry a JSON pointer into the request.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/base/error.h"
#include "common/forecast/array_starts.h"
#include "common/gpu/gpu_pool.h"

namespace gpuadvise::daemon {

// A host list of a request is so long at most: what ten thousand names take one by one.
inline constexpr size_t kMaxHostListBytes = 64 << 10;

// For so many nodes a host list of a request may stand: those of the cluster, or a thousand.
size_t MostHostsAsked(const Snapshot& snapshot);

// "a,b" as names; empty ones are left out.
std::vector<std::string> SplitNames(const std::string& list);

struct JobQuery {
  JobRequest request;                    // GPU types are Slurm's
  Submitter submitter;                   // the caller, with the account and QOS that the job names
  ArrayShape array = {};                 // one task: no array
  std::string name = {};                 // of the job, for what is known of its like
  int64_t time_min_seconds = 0;          // --time-min: no limit below it is advised; 0: not given
  std::vector<std::string> doubts = {};  // of what the job waits for, in sentences
};

// Reads `item`, which lies at `pointer`. A job that names no partition is for
// `standard_partition`; where that is "" its partitions stay empty and its time limit absent, and
// GPU types may be those of any partition. Errors: kBadInput, kNotFound for an unknown GPU type.
Result<JobQuery> ReadJobQuery(const nlohmann::json& item, const std::string& pointer,
                              const AdviceContext& context, const std::vector<GpuPool>& pools,
                              const Submitter& caller, const std::string& standard_partition);

}  // namespace gpuadvise::daemon
