// The cluster now, as metric families: nodes, GPUs, CPUs and jobs, under the names that Slurm's
// exporters use (slurm_*) and under ours (gpuadvise_*). docs/metrics.md has the table.
//
// Series are by partition and GPU type, so that 10,000 nodes take as little as 10. O(nodes + jobs).
// Pure.
#pragma once

#include "common/gpu/gpu_naming.h"
#include "common/slurm/snapshot.h"
#include "daemon/metrics/gauges.h"
#include "daemon/settings/settings.h"

namespace gpuadvise::daemon {

// Who reads the metrics (docs/security.md).
struct MetricsReader {
  bool sees_hidden = false;    // hidden partitions, and what PrivateData keeps from users
  bool sees_accounts = false;  // names of accounts
};

// Accounts and reasons beyond these are one series, "other".
inline constexpr size_t kMostAccountLabels = 200;
inline constexpr size_t kMostReasons = 64;

MetricFamilies ClusterMetrics(const Snapshot& snapshot, const GpuNaming& naming,
                              const MetricsReader& reader, const MetricsNames& names);

}  // namespace gpuadvise::daemon
