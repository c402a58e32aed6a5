// The nodes of a snapshot as a plan needs them: capacity, what never comes back, reservations, and
// what running jobs hold until when.
//
// Running jobs keep what they hold until their limit; overdue and completing ones let go after
// kReleaseSeconds; jobs without a limit never do. Built once per snapshot, then immutable; safe
// from any thread. Times are seconds from the snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/scheduler/node_timeline.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise {

// How many jobs may share each CPU of a partition at a time: the n of OverSubscribe=FORCE:n,
// else 1.
int64_t SharedBy(const Partition& partition);

// How long a job past its end, or being cleaned up, still holds its nodes.
inline constexpr int64_t kReleaseSeconds = 60;

// Nodes set aside: jobs outside the reservation may not touch [start, end).
struct ReservedWindow {
  int64_t start = 0;
  int64_t end = kNever;
  int32_t reservation = 0;  // index in NodePool::reservations()
  bool floats = false;      // TIME_FLOAT: it is always `start` ahead and never begins

  // Whether it keeps a job of others off its nodes during [from, from + duration).
  bool Bars(int64_t from, int64_t duration) const {
    if (floats) return duration > start;
    const int64_t until = duration >= kNever || from >= kNever ? kNever : from + duration;
    return start < until && end > from;
  }
};

// Part of a node set aside in the same way. Which GPUs and cores these are does not matter.
struct ReservedPart {
  int64_t start = 0;
  int64_t end = kNever;
  int32_t reservation = 0;
  Resources held;
};

// Slurm's own ResumeTimeout, where the snapshot says none.
inline constexpr int64_t kResumeSeconds = 60;

struct PoolNode {
  std::string name;
  Resources capacity;
  std::vector<int32_t> gpu_types;  // slot -> NodePool::gpu_types() index
  int64_t shards_per_gpu = 0;
  bool shards_are_mps = false;     // `capacity.shards` is gres/mps
  int64_t cpus_of_a_job = 0;       // most that one job gets: OverSubscribe=FORCE makes more of them
  int32_t limited_partition = -1;  // whose jobs share capacity.part_cpus (MaxCPUsPerNode); -1: none
  int64_t boot_seconds = 0;        // at most until a job that gets it now can run; 0: it is up
  bool boots = false;              // it is booting already
  int64_t threads_per_core = 1;
  int64_t weight = 1;
  int32_t kind = 0;  // the same for nodes with the same hardware: all above but name and weight
  bool usable = true;
  std::string why_unusable;  // "drained (fan broken)"; "" when usable
  std::vector<std::string> features;
  std::vector<ReservedWindow> reserved;  // ascending starts
  std::vector<ReservedPart> parts;

  // Slot of a GPU type, or -1.
  int SlotOf(int32_t type) const;
};

// Something held on one node.
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

  // What `job` holds, by node. Nodes that the snapshot does not have are left out.
  std::vector<NodeShare> HeldBy(const Job& job) const;

  // What is in use though no job of the snapshot holds it, and until when at the latest.
  const std::vector<NodeShare>& unexplained() const { return unexplained_; }
  int64_t unexplained_until() const { return unexplained_until_; }

  // Indices; -1 when there is none of that name.
  int32_t FindNode(std::string_view name) const;
  int32_t FindGpuType(std::string_view type) const;
  int32_t FindReservation(std::string_view name) const;

  // CPUs that `cpus` really cost on `node`: whole cores where cores are what is handed out.
  int64_t WholeCores(const PoolNode& node, int64_t cpus) const;

  // How many kinds of nodes there are; PoolNode::kind is below.
  int32_t kinds() const { return kinds_; }

  bool memory_is_counted() const { return memory_is_counted_; }
  bool whole_nodes_only() const { return whole_nodes_only_; }

  // Whether nodes are set aside in part, or need to boot.
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
  bool memory_is_counted_ = true;
  bool whole_cores_ = true;
  bool whole_nodes_only_ = false;
  bool has_parts_ = false;
  bool has_boots_ = false;
  std::unordered_map<std::string, int32_t> partition_index_;
};

// When a job that has nodes lets go of them.
int64_t RunningUntil(const Job& job, UnixSeconds now, const SchedulerConfig& config);

}  // namespace gpuadvise
