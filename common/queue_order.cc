#include "common/queue_order.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace gpuadvise {

std::strong_ordering operator<=>(const Rank& a, const Rank& b) {
  if (const auto c = a.outside_reservations <=> b.outside_reservations; c != 0) return c;
  if (const auto c = b.tier <=> a.tier; c != 0) return c;
  if (const auto c = b.priority <=> a.priority; c != 0) return c;
  return a.job_id <=> b.job_id;
}

bool ReasonHolds(std::string_view reason) {
  // Slurm's words; some carry details after a comma ("ReqNodeNotAvail, UnavailableNodes:n7").
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
      std::string_view("ReqNodeNotAva"),
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

int64_t CompetesFrom(const Job& job, UnixSeconds now) {
  assert(job.state == JobState::kPending);
  if (job.priority == 0 || !job.dependency.empty() || ReasonHolds(job.reason)) return kNever;
  int64_t from = 0;
  if (job.request.begin_time) from = std::max(from, *job.request.begin_time - now);
  if (job.eligible_time) from = std::max(from, *job.eligible_time - now);
  return from;
}

}  // namespace gpuadvise
