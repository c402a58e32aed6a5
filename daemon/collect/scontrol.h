// What `scontrol show node|partition|reservation|license|config` prints, as values of the snapshot;
// jobs are in scontrol_jobs.h.
//
// Times are in any of Slurm's formats, in UTC. Missing fields keep their defaults and records
// without a name are left out; nothing here fails. The results are in the order of the text. Pure
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

// How many nodes of partitions have no record: up to 22.05 slurmctld hides powered-down nodes of a
// cloud, unless PrivateData=cloud.
int64_t CountUnseenNodes(const Snapshot& snapshot);

// `scontrol show license`; sorted by name.
std::vector<License> ParseLicenses(std::string_view text);

struct ClusterConfig {
  bool has_accounting = false;  // slurmdbd keeps associations and QOS
  bool has_licenses = false;    // Licenses= names some, or accounting may
  std::string slurm_user;       // who sees all: "slurm"
  std::string cluster;
  SchedulerConfig config;
};
// The KEY = VALUE lines of the configuration, in seconds, without the daemons' own settings.
ClusterConfig ParseConfig(std::string_view text);

}  // namespace gpuadvise::collect
