// Turns a collector's output into snapshots of the cluster state. Used by one thread at a time (a
// worker).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/slurm/snapshot_records.h"
#include "daemon/base/line_splitter.h"
#include "daemon/collector/collector_sink.h"
#include "daemon/state/cluster_state.h"

namespace gpuadvise::daemon {

class SnapshotSink : public CollectorSink {
 public:
  // REQUIRES: `cluster` outlives the sink.
  explicit SnapshotSink(ClusterState& cluster) : cluster_(cluster) {}

  void Begin() override;
  CollectorProgress Feed(std::string_view bytes) override;

  // Takes nothing more in: what is left of the bytes that Feed() has may be several snapshots, each
  // of which takes seconds on a large cluster. From any thread.
  void Stop() { stopped_ = true; }

 private:
  double SinceTaken() const;
  void TakeLine(std::string_view line, CollectorProgress& progress);
  void Deliver(std::shared_ptr<const Snapshot> snapshot, CollectorProgress& progress);

  ClusterState& cluster_;
  std::atomic<bool> stopped_ = false;
  SnapshotAssembler assembler_;
  LineSplitter lines_{kMaxRecordBytes};
  int64_t rubbish_lines_ = 0;  // since the last snapshot
  int64_t dropped_before_ = 0;
  LeftOut told_;                // records left out, as last logged
  double reading_seconds_ = 0;  // spent reading the current snapshot, until …
  std::chrono::steady_clock::time_point taken_at_;
};

}  // namespace gpuadvise::daemon
