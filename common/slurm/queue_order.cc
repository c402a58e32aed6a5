#include "common/slurm/queue_order.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace gpuadvise {

Rank MakeRank(const Snapshot& policy, const std::vector<size_t>& partitions, bool in_reservation,
              int64_t priority, int64_t job_id) {
  Rank rank{!in_reservation, 0, priority, job_id};
  for (const size_t partition : partitions) {
    rank.tier = std::max(rank.tier, policy.partitions[partition].priority_tier);
  }
  return rank;
}

bool IsHoldReason(std::string_view reason) {
  // Slurm's words, possibly with details behind them.
  static constexpr std::array kPrefixes = {
      std::string_view("QOS"),
      std::string_view("Assoc"),
      std::string_view("JobHeld"),
      std::string_view("JobHold"),
      std::string_view("Dependency"),
      std::string_view("PartitionDown"),
      std::string_view("PartitionInac"),
      std::string_view("PartitionNodeLimit"),
      std::string_view("PartitionTime"),
      std::string_view("BadConstraints"),
      std::string_view("AccountNotAllowed"),
      std::string_view("InvalidAccount"),
      std::string_view("InvalidQOS"),
      std::string_view("Licenses"),
      std::string_view("BurstBuffer"),
      std::string_view("MaxMemPerLimit"),
      std::string_view("MaxSubmit"),
      std::string_view("MaxTRES"),
      std::string_view("MaxJobs"),
      std::string_view("MaxCpu"),
      std::string_view("MaxNode"),
      std::string_view("MaxMem"),
      std::string_view("MaxGRES"),
      std::string_view("Grp"),
      std::string_view("launch failed"),
      std::string_view("launch_failed"),
      std::string_view("DeadLine"),
      std::string_view("FrontEndDown"),
      std::string_view("ReservationDeleted"),
  };
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return reason.starts_with(prefix); });
}

bool IsLimitReason(std::string_view reason) {
  static constexpr std::array kPrefixes = {
      std::string_view("QOSGrp"), std::string_view("QOSMaxJobsPer"), std::string_view("QOSMax"),
      std::string_view("AssocGrp"), std::string_view("AssocMaxJobs")};
  if (reason.find("PerJob") != std::string_view::npos ||
      reason.find("Wall") != std::string_view::npos ||
      reason.find("Minutes") != std::string_view::npos) {
    return false;
  }
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return reason.starts_with(prefix); });
}

std::vector<int64_t> DependsOn(std::string_view dependency) {
  std::vector<int64_t> ids;
  int64_t id = 0;
  bool reading = false;
  char before = 0;
  for (const char c : dependency) {
    if (c >= '0' && c <= '9') {
      if (!reading && before == ':') reading = true;
      if (reading && id < 100'000'000'000) id = id * 10 + (c - '0');
    } else if (reading) {
      ids.push_back(id);
      id = 0;
      reading = false;
    }
    before = c;
  }
  if (reading) ids.push_back(id);
  return ids;
}

int64_t EligibleFrom(const Job& job, UnixSeconds now) {
  assert(job.state == JobState::kPending);
  const bool waits_for_others =
      job.reason == "Dependency" || IsLimitReason(job.reason) ||
      (job.reason.starts_with("Licenses") && !job.request.licenses.empty());
  if (!job.dependency.empty() && DependsOn(job.dependency).empty()) return kNever;  // singleton
  if (job.priority == 0 || (IsHoldReason(job.reason) && !waits_for_others)) return kNever;
  int64_t from = 0;
  if (job.request.begin_time) from = std::max(from, *job.request.begin_time - now);
  if (job.eligible_time) from = std::max(from, *job.eligible_time - now);
  return from;
}

}  // namespace gpuadvise
