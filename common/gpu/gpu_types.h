// GPU types of a cluster, over all partitions: names and current counts for answers about the past.
//
// Built from a snapshot, without references to it. Immutable; safe from any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/gpu/gpu_naming.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct GpuType {
  std::string id;         // catalogue id, or Slurm's GRES type if unknown
  std::string name;       // "L40S"
  int64_t total = 0;      // in partitions that are not hidden
  int64_t installed = 0;  // in all partitions
  bool hidden = false;    // exists in hidden partitions only
};

class GpuTypes {
 public:
  GpuTypes(const Snapshot& snapshot, const GpuNaming& naming);

  // The type behind GRES type `gres`. Untyped ("") is the cluster's only type, or a separate type
  // "gpu" if there are several. A type without nodes is separate as well.
  GpuType TypeOf(const std::string& gres) const;

  // All current types, by id.
  const std::map<std::string, GpuType>& all() const { return types_; }

 private:
  std::map<std::string, GpuType> types_;
  std::map<std::string, std::string> ids_;  // by GRES type
};

}  // namespace gpuadvise
