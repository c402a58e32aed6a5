// Which jobs may preempt which: PreemptType and PreemptMode of the cluster, partitions and QOS.
// https://slurm.schedmd.com/preempt.html. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

// What happens to a preempted job.
enum class PreemptMode { kOff, kCancel, kRequeue, kSuspend };

class Preemption {
 public:
  Preemption() = default;
  explicit Preemption(const Snapshot& snapshot);

  // False: no preemption.
  bool enabled() const { return !modes_.empty(); }

  // Class of jobs in a partition (index) with a QOS; jobs of one class are treated alike. -1 if
  // preemption is off or the QOS is unknown.
  int32_t ClassOf(size_t partition, const std::string& qos) const;

  // Whether a job of class `strong` may preempt one of class `weak` at these priorities, which
  // matter with PreemptMode=PRIORITY and WITHIN.
  bool May(int32_t strong, int32_t weak, int64_t strong_priority, int64_t weak_priority) const;

  // Whether it may preempt any job of sufficiently low priority.
  bool MayTake(int32_t strong) const;

  // Whether any job of sufficiently high priority may preempt it.
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

// "REQUEUE", "SUSPEND,GANG", "OFF", as printed by Slurm. GANG alone is kOff.
PreemptMode ParsePreemptMode(std::string_view text);

}  // namespace gpuadvise
