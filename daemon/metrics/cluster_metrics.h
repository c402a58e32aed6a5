// The cluster now, as metric families: its GPUs and the jobs that hold or wait for them
// (gpuadvise_*). docs/metrics.md has the table.
//
// Series are by partition and GPU type, so that 10,000 nodes take as little as 10. O(nodes + jobs).
// Pure.
#pragma once

#include "common/gpu/gpu_naming.h"
#include "common/slurm/snapshot.h"
#include "daemon/metrics/gauges.h"

namespace gpuadvise::daemon {

// Who reads the metrics (docs/security.md).
struct MetricsReader {
  bool sees_hidden = false;    // hidden partitions, and what PrivateData keeps from users
  bool sees_accounts = false;  // names of accounts
};

// Accounts beyond these are one series, "other".
inline constexpr size_t kMostAccountLabels = 200;

MetricFamilies ClusterMetrics(const Snapshot& snapshot, const GpuNaming& naming,
                              const MetricsReader& reader);

}  // namespace gpuadvise::daemon
