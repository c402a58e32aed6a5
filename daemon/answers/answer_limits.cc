// GET /v1/limits: a user's past time limits, and what shorter ones would have been worth.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/slurm/policy.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

json GroupJson(const PastLimitGroup& group) {
  json row = {{"name", group.name},
              {"partition", group.partition},
              {"gpu", group.gpu},
              {"jobs", group.jobs},
              {"failed", group.failed},
              {"usual_limit_seconds", group.usual_limit},
              {"run_p50_seconds", group.run_p50},
              {"longest_seconds", group.longest},
              {"asked_seconds", std::llround(group.asked_seconds)},
              {"used_seconds", std::llround(group.used_seconds)},
              {"cut", group.cut},
              {"replayed", group.replayed}};
  row["limit_seconds"] = group.limit ? json(*group.limit) : json();
  row["saved_seconds"] = group.saved_seconds ? json(std::llround(*group.saved_seconds)) : json();
  return row;
}

json ReplayJson(const LimitReplay& replay) {
  return {{"from", replay.from},
          {"until", replay.until},
          {"jobs", replay.all_jobs},
          {"own_jobs", replay.own_jobs},
          {"recorded_wait_seconds", std::llround(replay.recorded_wait)},
          {"own_wait_seconds", std::llround(replay.own_wait)},
          {"wait_seconds", std::llround(replay.wait)},
          {"saved_seconds", std::llround(replay.saved())},
          {"saved_low_seconds", std::llround(replay.saved_low)},
          {"saved_high_seconds", std::llround(replay.saved_high)},
          {"cut", replay.cut},
          {"redone_seconds", std::llround(replay.redone_seconds)}};
}

}  // namespace

Result<std::string> ReviewedUser(const PastLimitsQuestion& question, const Snapshot& snapshot,
                                 const Submitter& caller) {
  if (question.user.empty() && caller.user.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("uid {} has no login name on this machine, so no job is known as its; "
                            "name a user",
                            caller.uid));
  }
  if (question.user.empty() || question.user == caller.user) return caller.user;
  const std::string& hidden = snapshot.config.private_data;
  const bool is_private = HasFlag(hidden, "jobs") || HasFlag(hidden, "usage");
  if (caller.uid != 0 && is_private) {
    return Fail(ErrorCode::kInfeasible,
                "this site keeps the jobs of its users private (PrivateData): you can ask about "
                "your own only");
  }
  return question.user;
}

json AnswerPastLimits(const PastLimits& review, const std::string& user, UnixSeconds since,
                      UnixSeconds now) {
  json groups = json::array();
  for (const PastLimitGroup& group : review.groups) {
    if (groups.size() == kMostLimitGroups) break;
    groups.push_back(GroupJson(group));
  }
  json answer = {{"user", user},
                 {"since", since},
                 {"jobs", review.jobs},
                 {"asked_seconds", std::llround(review.asked_seconds)},
                 {"used_seconds", std::llround(review.used_seconds)},
                 {"asked_gpu_seconds", std::llround(review.asked_gpu_seconds)},
                 {"used_gpu_seconds", std::llround(review.used_gpu_seconds)},
                 {"groups", std::move(groups)},
                 {"groups_in_all", review.groups.size()},
                 {"replay", review.replay ? ReplayJson(*review.replay) : json()},
                 {"words", InWords(review, now)}};
  return answer;
}

}  // namespace gpuadvise::daemon
