// Nodes of a snapshot for planning: capacity, permanent losses, reservations, and what running jobs
// hold until when.
//
// Running jobs hold their nodes until their limit; overdue and completing ones for kReleaseSeconds;
// jobs without a limit for ever. Built once per snapshot, then immutable; safe from any thread.
// Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/scheduler/node_timeline.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Jobs that may share a CPU of a partition: the n of OverSubscribe=FORCE:n, else 1.
int64_t SharedBy(const Partition& partition);

// How long an overdue or completing job still holds its nodes.
inline constexpr int64_t kReleaseSeconds = 60;

// A reservation of whole nodes: other jobs may not use them in [start, end).
struct ReservedWindow {
  int64_t start = 0;
  int64_t end = kNever;
  int32_t reservation = 0;  // index in NodePool::reservations()
  bool floats = false;      // TIME_FLOAT: always `start` seconds ahead, never begins

  // Whether it keeps other jobs off its nodes in [from, from + duration).
  bool Bars(int64_t from, int64_t duration) const {
    if (floats) return duration > start;
    const int64_t until = duration >= kNever || from >= kNever ? kNever : from + duration;
    return start < until && end > from;
  }
};

// A reservation of part of a node. Which GPUs and cores is irrelevant.
struct ReservedPart {
  int64_t start = 0;
  int64_t end = kNever;
  int32_t reservation = 0;
  Resources held;
};

// Slurm's default ResumeTimeout, if the snapshot has none.
inline constexpr int64_t kResumeSeconds = 60;

struct PoolNode {
  std::string name;
  Resources capacity;
  std::vector<int32_t> gpu_types;  // slot -> index in NodePool::gpu_types()
  int64_t shards_per_gpu = 0;
  bool shards_are_mps = false;     // `capacity.shards` is gres/mps
  int64_t cpus_of_a_job = 0;       // most for one job: OverSubscribe=FORCE multiplies capacity
  int32_t limited_partition = -1;  // its jobs share capacity.part_cpus (MaxCPUsPerNode); -1: none
  int64_t boot_seconds = 0;        // upper bound until a job allocated now can run; 0: node is up
  bool boots = false;              // already booting
  int64_t threads_per_core = 1;
  int64_t weight = 1;
  bool usable = true;
  std::string why_unusable;  // "drained (fan broken)"; "" if usable
  std::vector<std::string> features;
  std::vector<ReservedWindow> reserved;  // by ascending start
  std::vector<ReservedPart> parts;

  // Slot of a GPU type, or -1.
  int SlotOf(int32_t type) const;
};

struct NodeShare {
  int32_t node = 0;
  Resources held;
};

class NodePool {
 public:
  explicit NodePool(const Snapshot& snapshot);

  const std::vector<PoolNode>& nodes() const { return nodes_; }
  const std::vector<std::string>& gpu_types() const { return gpu_types_; }
  const std::vector<Reservation>& reservations() const { return reservations_; }

  // Resources held by `job`, by node. Omits nodes missing from the snapshot.
  std::vector<NodeShare> HeldBy(const Job& job) const;

  // Resources in use without a visible job, and the latest time of their release.
  const std::vector<NodeShare>& unexplained() const { return unexplained_; }
  int64_t unexplained_until() const { return unexplained_until_; }

  // Index, or -1 if there is no such name.
  int32_t FindNode(std::string_view name) const;
  int32_t FindGpuType(std::string_view type) const;
  int32_t FindReservation(std::string_view name) const;

  // CPUs actually allocated for `cpus` on `node`: whole cores where cores are allocated.
  int64_t WholeCores(const PoolNode& node, int64_t cpus) const;

  // Nodes of equal hardware are of one kind: a number from 0 to kinds() - 1.
  int32_t kinds() const { return kinds_; }
  int32_t KindOf(int32_t node) const { return kind_of_[static_cast<size_t>(node)]; }

  bool memory_is_counted() const { return memory_is_counted_; }
  bool whole_nodes_only() const { return whole_nodes_only_; }

  // Whether any node is partly reserved, or needs to boot.
  bool has_parts() const { return has_parts_; }
  bool has_boots() const { return has_boots_; }

 private:
  void AddNode(const Node& node);
  void AddPartitions(const Snapshot& snapshot);
  void AddBootTimes(const Snapshot& snapshot);
  void AddReservations(const Snapshot& snapshot);
  std::vector<ReservedPart> PartsOf(const Reservation& reservation,
                                    const std::vector<int32_t>& nodes) const;
  void GivePartsToRunning(const Snapshot& snapshot);
  void AddUnexplained(const Snapshot& snapshot);
  void NumberKinds();
  Resources Held(const PoolNode& node, const Allocation& allocation, int32_t partition) const;

  std::vector<PoolNode> nodes_;
  std::vector<std::string> gpu_types_;
  std::vector<Reservation> reservations_;
  std::vector<NodeShare> unexplained_;
  int64_t unexplained_until_ = kReleaseSeconds;
  std::unordered_map<std::string, int32_t> node_index_;
  int32_t kinds_ = 0;
  std::vector<int32_t> kind_of_;  // by node
  bool memory_is_counted_ = true;
  bool whole_cores_ = true;
  bool whole_nodes_only_ = false;
  bool has_parts_ = false;
  bool has_boots_ = false;
  std::unordered_map<std::string, int32_t> partition_index_;
};

// When a job with nodes releases them.
int64_t RunningUntil(const Job& job, UnixSeconds now, const SchedulerConfig& config);

}  // namespace gpuadvise
