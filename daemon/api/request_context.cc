#include "daemon/api/request_context.h"

#include <algorithm>
#include <utility>

#include "common/forecast/live_forecast.h"
#include "common/slurm/policy.h"
#include "daemon/api/answer_cache.h"
#include "daemon/api/frame.h"
#include "daemon/api/requests.h"

namespace gpuadvise::daemon {

using nlohmann::json;

namespace {

constexpr const char* kGaveUp =
    "the question is large: its last forecasts are made from few samples, and not all ways to "
    "start "
    "sooner, shorter limits and tips were looked for";

// Whether `answer` has waits, and they are a stand-in's (common/slurm/policy.h).
bool IsAnybodys(const RequestContext& call, const json& answer) {
  const bool waits =
      answer.contains("answers") || answer.contains("gpus") || answer.contains("strategies");
  const Submitter caller = CallerOf(call);
  if (!waits || call.state == nullptr || !IsAnybody(caller)) return false;
  const Snapshot& snapshot = *call.state->snapshot;
  const bool has_account = !caller.user.empty() &&
                           std::any_of(snapshot.associations.begin(), snapshot.associations.end(),
                                       [&](const auto& one) { return one.user == caller.user; });
  return EnforcedBy(snapshot.config.enforce).associations && !has_account;
}

std::string AnybodysWords(const DaemonState& state) {
  const Submitter anybody = state.Anybody();
  const std::string& account = anybody.public_account;
  std::string words = "you have no account here: waits are those of a user with the fewest rights";
  if (!account.empty() && HasAccount(*state.snapshot, account)) words += " in account " + account;
  const Qos* const qos = FindQos(*state.snapshot, anybody.public_qos);
  return qos == nullptr ? words : words + ", with QOS " + qos->name;
}

// Says what was given up so that there is an answer, and whose waits it has.
Result<json> Complete(const RequestContext& call, Result<json> answer) {
  if (call.budget.stopped()) return tl::unexpected<Error>(call.budget.error());
  if (answer && call.budget.gave_up()) (*answer)["warnings"].push_back(kGaveUp);
  if (answer && IsAnybodys(call, *answer))
    (*answer)["warnings"].push_back(AnybodysWords(*call.state));
  return answer;
}

// `answer` with its tag; to who has that already, only that it is still so, and in which snapshot.
ApiResponse ReplyTagged(const RequestContext& call, const FramedAnswer& answer) {
  ApiResponse response;
  response.fields = {{"ETag", answer.tag}};
  if (call.request.browser.if_none_match.find(answer.tag) == std::string::npos) {
    response.shared_body = answer.text;
    return response;
  }
  response.status = 304;
  response.fields.emplace_back("Gpuadvise-Snapshot",
                               std::to_string(call.state->snapshot->taken_at));
  return response;
}

ApiResponse RefuseTooLarge(const RequestContext& call) {
  ApiResponse response = Refuse(call, call.budget.error());
  response.status = 422;
  return response;
}

}  // namespace

AnswerCost AnswerCost::Within(std::chrono::nanoseconds answer_cpu_time) {
#ifdef NDEBUG
  constexpr int kSlower = 1;
#else
  constexpr int kSlower = 20;
#endif
  return {kSlower * answer_cpu_time, kSlower * std::chrono::microseconds(20),
          kSlower * std::chrono::microseconds(10), kSlower * std::chrono::microseconds(300)};
}

std::chrono::nanoseconds AnswerCost::For(const Snapshot* snapshot) const {
  if (snapshot == nullptr) return base;
  const auto jobs = static_cast<int64_t>(snapshot->jobs.size());
  const bool is_played = snapshot->jobs.size() <= kLongQueue;
  return base + per_node * static_cast<int64_t>(snapshot->nodes.size()) + per_job * jobs +
         (is_played ? per_played_job * jobs : std::chrono::nanoseconds(0));
}

ApiResponse Reply(const RequestContext& call, json answer, int status) {
  return {status, Text(Framed(std::move(answer), call.state.get(), call.freshness)), ""};
}

ApiResponse Refuse(const RequestContext& call, const Error& error) {
  return {StatusOf(error.code), Text(FramedError(error, call.state.get(), call.freshness)), ""};
}

ApiResponse ReplyOrRefuse(const RequestContext& call, Result<json> answer) {
  answer = Complete(call, std::move(answer));
  if (call.budget.stopped()) return RefuseTooLarge(call);
  return answer ? Reply(call, std::move(*answer)) : Refuse(call, answer.error());
}

Error NoSnapshotYet(const Freshness& freshness) {
  std::string cause =
      freshness.cause.value_or("the first one is on its way; ask again in a moment");
  return {ErrorCode::kUnavailable, "no snapshot of the cluster yet: " + std::move(cause), ""};
}

AdviceContext AdviceContextOf(const RequestContext& call) {
  const ForEach lent = [&lend = call.api.for_each, &budget = call.budget](
                           size_t count, const std::function<void(size_t)>& body) {
    lend(count, [&](size_t i) {
      const WorkBudget::Share share(budget);
      if (!budget.Spent()) body(i);
    });
  };
  return call.state->Context(lent, call.learned.get(), &call.budget);
}

Submitter CallerOf(const RequestContext& call) {
  Submitter caller = call.state != nullptr ? call.state->Anybody() : Submitter();
  if (call.peer.anonymous) return caller;
  caller.uid = call.peer.uid;
  caller.user = call.api.users.NameOf(call.peer.uid);
  caller.host = call.peer.shown_uid ? "" : call.api.host;
  return caller;
}

ApiResponse ReplyOnce(const RequestContext& call, const std::function<Result<json>()>& make) {
  if (!call.state) return Refuse(call, NoSnapshotYet(call.freshness));
  const auto whole = [&] { return Complete(call, make()); };
  const auto framed = [&](json answer) {
    return FramedText(std::move(answer), call.state.get(), call.freshness);
  };
  const bool shared = call.peer.anonymous && call.api.shared != nullptr;
  const Result<FramedAnswer> answer =
      shared ? call.api.shared->Get(call.state, call.freshness,
                                    CanonicalTarget(call.request.target), whole)
             : whole().map(framed);
  if (call.budget.stopped()) return RefuseTooLarge(call);
  if (!answer) return Refuse(call, answer.error());
  return ReplyTagged(call, *answer);
}

}  // namespace gpuadvise::daemon
