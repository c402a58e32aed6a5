// The cluster of a log: partitions and their nodes, read from a small YAML file.
//
//   partitions:
//     standard: {nodes: 5040, cpus_per_node: 16}
//     gpu:
//       - {nodes: "g[01-15]", cpus_per_node: 32, gpu: a100, gpus_per_node: 4}
//   scheduler_parameters: bf_window=2880      # optional; from the slurm.conf of that time
//
// With a count instead of names, nodes are named after the partition. Opens no files.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/yaml/yaml_document.h"

namespace gpuadvise::backtest {

// The cluster without jobs: nodes, partitions, scheduler. taken_at is 0.
// Errors: kBadInput with the JSON pointer of the wrong value.
Result<Snapshot> ClusterOf(const YamlDocument& document);

}  // namespace gpuadvise::backtest
