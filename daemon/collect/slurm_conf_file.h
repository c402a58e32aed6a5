// A slurm.conf as a file: for hosts that have one but no Slurm, such as a container beside
// slurmrestd.
//
// Of the whole language only what a snapshot's configuration needs: KEY=VALUE pairs, PartitionName
// records, Include, quotes, comments and joined lines. Keys are of any case, as Slurm takes them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "daemon/collect/scontrol.h"

namespace gpuadvise::collect {

// Lower-case key to value; of a key that is there twice the last counts.
using ConfKeys = std::map<std::string, std::string>;

struct SlurmConfFile {
  ConfKeys keys;
  std::map<std::string, ConfKeys> partitions;  // by name, with what PartitionName=DEFAULT gave them
};

// Reads `path` and what it includes, by paths relative to its folder too.
// Errors: kUnavailable with the path and why it cannot be read.
Result<SlurmConfFile> ReadSlurmConfFile(const std::string& path);

// The configuration of these keys over Slurm's own defaults (23.11 and later), without a release.
ClusterConfig ConfigOf(const ConfKeys& keys);

// Fills what slurmrestd tells of partitions from v0.0.45 on only: which is the default, hidden, for
// root or one user alone, and how it preempts. REQUIRES: over_subscribe is that of such a version.
void FillFlags(const SlurmConfFile& file, Partition& partition);

}  // namespace gpuadvise::collect
