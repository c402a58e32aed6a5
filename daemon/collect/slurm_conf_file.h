// Reads slurm.conf from a file, for hosts that have one but no Slurm, such as a container next to
// slurmrestd.
//
// Supports only what a snapshot's configuration needs: KEY=VALUE pairs, PartitionName records,
// Include, quotes, comments and continued lines. Keys are case-insensitive, as in Slurm.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "daemon/collect/scontrol.h"

namespace gpuadvise::collect {

// Lower-case key to value; the last of repeated keys wins.
using ConfKeys = std::map<std::string, std::string>;

struct SlurmConfFile {
  ConfKeys keys;
  std::map<std::string, ConfKeys> partitions;  // by name, including PartitionName=DEFAULT
};

// Reads `path` and included files, whose paths may be relative to its folder.
// Errors: kUnavailable with the path and the reason.
Result<SlurmConfFile> ReadSlurmConfFile(const std::string& path);

// The configuration of `keys`, with Slurm's defaults (23.11 and later); release not set.
ClusterConfig ConfigOf(const ConfKeys& keys);

// Fills partition fields that slurmrestd has only since v0.0.45: default, hidden, root only,
// exclusive user, preemption mode. REQUIRES: over_subscribe comes from an earlier version.
void FillFlags(const SlurmConfFile& file, Partition& partition);

}  // namespace gpuadvise::collect
