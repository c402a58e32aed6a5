// Reads `scontrol show node|partition|reservation|license|config` into values of the snapshot; for
// jobs see scontrol_jobs.h.
//
// Times may be in any of Slurm's formats, in UTC. Missing fields keep their defaults; records
// without a name are left out; nothing here fails. Results keep the order of the text. Pure
// functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

std::vector<Node> ParseNodes(std::string_view text);

std::vector<Partition> ParsePartitions(std::string_view text);

std::vector<Reservation> ParseReservations(std::string_view text);

// Number of nodes in partitions without a record: up to 22.05 slurmctld hides powered-down cloud
// nodes, unless PrivateData=cloud.
int64_t CountUnseenNodes(const Snapshot& snapshot);

// `scontrol show license`; sorted by name.
std::vector<License> ParseLicenses(std::string_view text);

struct ClusterConfig {
  bool has_accounting = false;  // slurmdbd keeps associations and QOS
  bool has_licenses = false;    // set by Licenses=, or possibly in accounting
  std::string slurm_user;       // user who sees everything: "slurm"
  std::string cluster;
  SchedulerConfig config;
};
// Reads the KEY = VALUE lines that affect scheduling; durations in seconds.
ClusterConfig ParseConfig(std::string_view text);

}  // namespace gpuadvise::collect
