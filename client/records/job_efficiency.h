// How much of what finished jobs asked for they used, from Slurm's accounting.
//
// CPU efficiency is CPU time over elapsed time × allocated CPUs; memory efficiency is the highest
// total of a step over what was requested: the definitions of contribs/seff in Slurm's sources.
// GPU use is what the site's accounting gathers (TRESUsageInTot of gres/gpuutil, gres/gpumem: the
// highest sample, summed over GPUs), or what `gpuadvise run` sampled, its mean. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

struct JobEfficiency {
  std::string id;  // as sacct shows it: "4711", "4711_3"
  int64_t raw_id = 0;
  std::string name;
  std::string user;
  std::string state;  // COMPLETED, FAILED, OUT_OF_MEMORY …
  std::string partition;
  int64_t elapsed_seconds = 0;
  std::optional<int64_t> ended_at;       // unix seconds
  std::optional<int64_t> limit_seconds;  // none: UNLIMITED
  int64_t cpus = 0;
  int64_t nodes = 0;
  int64_t gpus = 0;
  std::optional<double> cpu_seconds;
  std::optional<int64_t> memory_requested_bytes;  // of all nodes
  std::optional<int64_t> memory_used_bytes;
  std::optional<double> gpu_use;            // 0 to 1, of each GPU
  bool gpu_use_is_mean = false;             // `gpuadvise run` sampled it; else the highest sample
  std::optional<int64_t> gpu_memory_bytes;  // of one GPU

  bool ended() const;
  std::optional<double> CpuEfficiency() const;
  std::optional<double> MemoryEfficiency() const;
  std::optional<double> TimeEfficiency() const;  // elapsed over the limit
};

// The fields to ask sacct for, in the order that EfficiencyFrom reads.
extern const char* const kEfficiencyFields;

// Jobs in sacct's order, from the rows of `sacct -n -P --noconvert -o kEfficiencyFields`; a job's
// steps follow it. Rows that are cut off are left out.
std::vector<JobEfficiency> EfficiencyFrom(std::string_view rows);

// "1-02:03:04", "12:34.567" of sacct's TotalCPU as seconds; nothing where it is none.
std::optional<double> CpuTimeOf(std::string_view text);

// What to ask for next time, a sentence each: memory, CPUs, time limit, GPUs. None for a job of
// under a minute, which says little.
std::vector<std::string> NextTime(const JobEfficiency& job);

}  // namespace gpuadvise::client
