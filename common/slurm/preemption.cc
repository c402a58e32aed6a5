#include "common/slurm/preemption.h"

#include <algorithm>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

// The mode of the partition or QOS if set, else the cluster's.
PreemptMode Narrower(const std::string& own, const std::string& cluster) {
  const bool says = !own.empty() && !ContainsIgnoringCase(own, "cluster");
  return ParsePreemptMode(says ? own : cluster);
}

}  // namespace

PreemptMode ParsePreemptMode(std::string_view text) {
  if (ContainsIgnoringCase(text, "suspend")) return PreemptMode::kSuspend;
  if (ContainsIgnoringCase(text, "requeue")) return PreemptMode::kRequeue;
  if (ContainsIgnoringCase(text, "cancel")) return PreemptMode::kCancel;
  return PreemptMode::kOff;
}

Preemption::Preemption(const Snapshot& snapshot) {
  const SchedulerConfig& config = snapshot.config;
  by_qos_ = ContainsIgnoringCase(config.preempt_type, "qos");
  if (!by_qos_ && !ContainsIgnoringCase(config.preempt_type, "partition_prio")) return;
  if (by_qos_) {
    for (const Qos& qos : snapshot.qos) {
      qos_.emplace(qos.name, static_cast<int32_t>(modes_.size()));
      modes_.push_back(Narrower(qos.preempt_mode, config.preempt_mode));
    }
  } else {
    for (const Partition& partition : snapshot.partitions) {
      modes_.push_back(Narrower(partition.preempt_mode, config.preempt_mode));
    }
  }
  claims_.assign(modes_.size(), std::vector<Claim>(modes_.size(), Claim::kNone));
  for (size_t strong = 0; strong < modes_.size(); ++strong) {
    for (size_t weak = 0; weak < modes_.size(); ++weak) {
      if (modes_[weak] != PreemptMode::kOff) {
        claims_[strong][weak] = ClaimOf(snapshot, strong, weak);
      }
    }
  }
}

// Whether class `strong` may preempt `weak` by rank, regardless of the mode.
Preemption::Claim Preemption::ClaimOf(const Snapshot& snapshot, size_t strong, size_t weak) const {
  const std::string& own =
      by_qos_ ? snapshot.qos[strong].preempt_mode : snapshot.partitions[strong].preempt_mode;
  const auto has = [&](std::string_view word) {
    return ContainsIgnoringCase(own, word) ||
           ContainsIgnoringCase(snapshot.config.preempt_mode, word);
  };
  if (!by_qos_) {
    const auto tier = [&](size_t at) { return snapshot.partitions[at].priority_tier; };
    if (tier(strong) <= tier(weak)) return Claim::kNone;
    return has("priority") ? Claim::kUnlessLower : Claim::kAlways;
  }
  if (strong == weak) return has("within") ? Claim::kIfHigher : Claim::kNone;
  const std::vector<std::string>& weaker = snapshot.qos[strong].preempt;
  if (std::find(weaker.begin(), weaker.end(), snapshot.qos[weak].name) == weaker.end()) {
    return Claim::kNone;
  }
  return has("priority") ? Claim::kIfHigher : Claim::kAlways;
}

int32_t Preemption::ClassOf(size_t partition, const std::string& qos) const {
  if (!enabled()) return -1;
  if (!by_qos_) return static_cast<int32_t>(partition);
  const auto found = qos_.find(qos);
  return found == qos_.end() ? -1 : found->second;
}

bool Preemption::May(int32_t strong, int32_t weak, int64_t strong_priority,
                     int64_t weak_priority) const {
  if (strong < 0 || weak < 0) return false;
  switch (claims_[static_cast<size_t>(strong)][static_cast<size_t>(weak)]) {
    case Claim::kNone:
      return false;
    case Claim::kAlways:
      return true;
    case Claim::kUnlessLower:
      return strong_priority >= weak_priority;
    case Claim::kIfHigher:
      return strong_priority > weak_priority;
  }
  return false;
}

bool Preemption::MayTake(int32_t strong) const {
  if (strong < 0) return false;
  const std::vector<Claim>& whose = claims_[static_cast<size_t>(strong)];
  return std::any_of(whose.begin(), whose.end(), [](Claim c) { return c != Claim::kNone; });
}

bool Preemption::MayLose(int32_t weak) const {
  return weak >= 0 && std::any_of(claims_.begin(), claims_.end(), [&](const auto& whose) {
           return whose[static_cast<size_t>(weak)] != Claim::kNone;
         });
}

PreemptMode Preemption::ModeOf(int32_t weak) const {
  return weak < 0 ? PreemptMode::kOff : modes_[static_cast<size_t>(weak)];
}

}  // namespace gpuadvise
