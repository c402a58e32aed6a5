// Who may take whose nodes: PreemptType and PreemptMode of the cluster, its partitions and QOS.
// https://slurm.schedmd.com/preempt.html. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

// What becomes of a job whose nodes are taken.
enum class PreemptMode { kOff, kCancel, kRequeue, kSuspend };

class Preemption {
 public:
  Preemption() = default;
  explicit Preemption(const Snapshot& snapshot);

  // False: nobody's nodes are ever taken.
  bool enabled() const { return !modes_.empty(); }

  // The class of jobs in a partition (index) with a QOS: jobs of one class are treated alike. -1
  // when preemption is off or the QOS is not known.
  int32_t ClassOf(size_t partition, const std::string& qos) const;

  // Whether a job of class `strong` may take the nodes of one of class `weak`, if their priorities
  // are these: PreemptMode=PRIORITY and WITHIN look at them as well.
  bool May(int32_t strong, int32_t weak, int64_t strong_priority, int64_t weak_priority) const;

  // Whether it may take those of anybody whose priority is low enough.
  bool MayTake(int32_t strong) const;

  // Whether anybody of a priority high enough may take its nodes.
  bool MayLose(int32_t weak) const;

  PreemptMode ModeOf(int32_t weak) const;

 private:
  enum class Claim : uint8_t { kNone, kAlways, kUnlessLower, kIfHigher };
  Claim ClaimOf(const Snapshot& snapshot, size_t strong, size_t weak) const;

  bool by_qos_ = false;
  std::unordered_map<std::string, int32_t> qos_;
  std::vector<PreemptMode> modes_;          // by class
  std::vector<std::vector<Claim>> claims_;  // [strong][weak]
};

// "REQUEUE", "SUSPEND,GANG", "OFF", as Slurm prints it. GANG alone is kOff.
PreemptMode PreemptModeOf(std::string_view text);

}  // namespace gpuadvise
