// Resource efficiency of finished jobs, from Slurm's accounting.
//
// CPU efficiency is CPU time / (elapsed time × allocated CPUs); memory efficiency is the maximum
// step total / requested memory. Source: contribs/seff in Slurm. GPU utilisation comes from the
// site's accounting (TRESUsageInTot of gres/gpuutil and gres/gpumem: maximum samples, summed over
// GPUs) or is the mean sampled by `gpuadvise run`. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

struct JobEfficiency {
  std::string id;  // as in sacct: "4711", "4711_3"
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
  std::optional<double> gpu_use;            // 0 … 1, mean over GPUs
  bool gpu_use_is_mean = false;             // sampled by `gpuadvise run`; else the maximum sample
  std::optional<int64_t> gpu_memory_bytes;  // of one GPU
  bool was_monitored = false;               // by `gpuadvise run`

  bool ended() const;
  std::optional<double> CpuEfficiency() const;
  std::optional<double> MemoryEfficiency() const;
  std::optional<double> TimeEfficiency() const;  // elapsed over the limit
};

// The fields to request from sacct, in the order of EfficiencyFrom.
extern const char* const kEfficiencyFields;

// Jobs in sacct's order, from the rows of `sacct -n -P --noconvert -o kEfficiencyFields`, where a
// job's steps follow it. Leaves out truncated rows.
std::vector<JobEfficiency> EfficiencyFrom(std::string_view rows);

// sacct's TotalCPU ("1-02:03:04", "12:34.567") in seconds; nullopt: invalid.
std::optional<double> CpuTimeOf(std::string_view text);

// Advice for the next request, one sentence each for memory, CPUs, time limit and GPUs. None for
// jobs under a minute, which show too little.
std::vector<std::string> NextTime(const JobEfficiency& job);

}  // namespace gpuadvise::client
