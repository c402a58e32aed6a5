// Parses GPU strings of Slurm and users into counts by type.
//
// Reads node GRES ("gpu:a100:4(S:0-1),gpu:l40s:2,shard:64"), GresUsed ("gpu:tesla:3(IDX:0,2-3)"),
// TRES ("cpu=8,gres/gpu=4,gres/gpu:a100=4", without adding total and parts), job requests
// ("gres:gpu:2", "gres/gpu:l40s:2") and sbatch options. Ignores everything but GPUs, shards and
// MPS. A GPU is allocated whole or as shards; they are counted separately. Pure; safe from any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct Gres {
  GpuCounts gpus;      // canonical: sorted by type, no duplicates or zeros; "" is untyped
  int64_t shards = 0;  // of GPUs, all types
  int64_t mps = 0;     // percent of a GPU, 100 per GPU
  friend bool operator==(const Gres&, const Gres&) = default;
};

// Parses Slurm's GRES and TRES lists, and the value of --gres. "(null)", "N/A" and "" are empty; a
// name without a count ("gpu:l40s") means one. Errors: kBadInput for an invalid count, with the
// part and the expected form.
Result<Gres> ParseGres(std::string_view text);

// Parses the value of --gpus, --gpus-per-node, --gpus-per-task: "4", "l40s:2", "l40s", "a:1,b:2".
Result<GpuCounts> ParseGpusOption(std::string_view text);

// For --gres: "gpu:l40s:6", "gpu:2"; "" for none.
std::string ToGresText(const GpuCounts& gpus);

// ---- counting ------------------------------------------------------------------------------

// Sorts by type, merges duplicates, drops counts below one.
GpuCounts CanonicalGpus(GpuCounts counts);
GpuCounts AddGpus(const GpuCounts& a, const GpuCounts& b);
GpuCounts MultiplyGpus(const GpuCounts& counts, int64_t factor);
int64_t TotalGpus(const GpuCounts& counts);
int64_t GpusOfType(const GpuCounts& counts, std::string_view type);

}  // namespace gpuadvise
