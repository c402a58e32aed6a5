// GET /v1/scheduler: what slurmctld says of its own work.
#include <nlohmann/json.hpp>
#include <optional>

#include "common/api/scheduler.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {
namespace {

std::optional<double> SecondsOf(const std::optional<int64_t>& microseconds) {
  return microseconds ? std::optional(static_cast<double>(*microseconds) / 1e6) : std::nullopt;
}

api::SchedulerCycles CyclesOf(const SchedulerCycles& cycles) {
  return {SecondsOf(cycles.last_us), SecondsOf(cycles.mean_us),
          SecondsOf(cycles.max_us),  cycles.cycles,
          cycles.mean_depth,         cycles.queue_length};
}

}  // namespace

nlohmann::json AnswerScheduler(const Snapshot& snapshot, const Submitter& caller) {
  const SchedulerHealth& health = snapshot.config.health;
  api::SchedulerHealth answer;
  answer.read_at = health.read_at;
  answer.since = health.since;
  answer.main = CyclesOf(health.main);
  answer.backfill = CyclesOf(health.backfill);
  answer.backfilled_jobs = health.backfilled_jobs;
  answer.rpcs = health.rpcs;
  if (health.rpcs.value_or(0) > 0 && health.rpc_us) {
    answer.rpc_mean_seconds =
        static_cast<double>(*health.rpc_us) / 1e6 / static_cast<double>(*health.rpcs);
  }
  answer.server_threads = health.server_threads;
  answer.agent_queue = health.agent_queue;
  if (!health.problem.empty() && caller.uid >= 0) answer.problem = health.problem;
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
