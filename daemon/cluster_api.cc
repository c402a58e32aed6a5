#include "daemon/cluster_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/answer_history.h"
#include "common/answer_scores.h"
#include "common/answer_waits.h"
#include "common/gpu_pool.h"
#include "daemon/event_teller.h"
#include "daemon/history_question.h"
#include "daemon/local_time.h"
#include "daemon/query.h"
#include "daemon/usage_book.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

/// Rows of one answer to a caller without a name: strangers' connections hold whole answers.
constexpr size_t kMostPublicRows = 200;

/// Takes out what is of GPU types that only hidden partitions have.
void KeepSeenTypes(const ClusterView& view, json& rows) {
  std::set<std::string> seen = {""};
  for (const GpuPool& pool : FindGpuPools(view.snapshot, view.gpus)) seen.insert(pool.Id());
  json kept = json::array();
  for (json& row : rows) {
    if (seen.contains(row.value("gpu", ""))) kept.push_back(std::move(row));
  }
  rows = std::move(kept);
}

json AgeOf(std::optional<UnixSeconds> time, UnixSeconds now) {
  return time ? json(std::max<int64_t>(now - *time, 0)) : json();
}

json HistoryJson(const HistoryState& state, UnixSeconds now) {
  json history = {{"problem", state.problem.empty() ? json() : json(state.problem)}};
  if (!state.info) return history;
  history.update({{"file", state.info->file},
                  {"bytes", state.info->bytes},
                  {"jobs", state.info->jobs},
                  {"oldest_age_seconds", AgeOf(state.info->oldest, now)},
                  {"newest_age_seconds", AgeOf(state.info->newest, now)}});
  return history;
}

}  // namespace

ApiResponse Gpus(Call& call) {
  return ReplyOnce(call, [&] { return AnswerGpus(ViewFor(call), CallerOf(call)); });
}

ApiResponse AccuracyOfStarts(Call& call) {
  return ReplyOnce(call, [&] {
    const ClusterView view = ViewFor(call);
    json answer = AnswerAccuracy(view);
    AddScores(view, LocalMomentOf, answer);
    if (!call.peer.anonymous) return answer;
    for (const char* part : {"by_gpu", "points"}) KeepSeenTypes(view, answer[part]);
    return answer;
  });
}

ApiResponse PastOfGpus(Call& call) {
  Result<HistoryQuestion> question = HistoryQuestionFrom(call.request.target);
  if (!question) return Refuse(call, question.error());
  question->anonymous = call.peer.anonymous;
  if (!call.state.history.state().info) question->not_kept = call.state.history.state().problem;
  return ReplyOnce(call, [&] {
    const auto answer = [&](const UsageHistory& history) {
      return AnswerHistory(*question, history, *call.view->snapshot, call.view->knowledge->gpus,
                           LocalMomentOf);
    };
    return call.state.usage ? call.state.usage->Read(answer) : answer(UsageHistory());
  });
}

ApiResponse Events(Call& call) {
  if (call.state.events == nullptr) {
    return Refuse(call, {ErrorCode::kUnavailable, "this daemon tells no events", ""});
  }
  ApiResponse response;
  response.content_type = "text/event-stream";
  response.fields = {{"X-Accel-Buffering", "no"}};  // nginx would hold events back
  response.events = call.state.events->Join(call.peer);
  return response;
}

ApiResponse Queue(Call& call) {
  Result<QueueFilter> filter = FilterFrom(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  if (call.peer.anonymous) filter->limit = std::min(filter->limit, kMostPublicRows);
  return ReplyOnce(call, [&] {
    return AnswerQueue(*filter, ViewFor(call), call.view->Starts(), CallerOf(call));
  });
}

ApiResponse Waits(Call& call) {
  return ReplyOnce(call, [&] { return AnswerWaits(ViewFor(call), CallerOf(call)); });
}

ApiResponse Nodes(Call& call) {
  Result<NodesFilter> filter = NodesFilterFrom(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  if (call.peer.anonymous) filter->limit = std::min(filter->limit, kMostPublicRows);
  return ReplyOnce(call, [&] {
    return AnswerNodes(*filter, ViewFor(call), call.view->Starts(), CallerOf(call));
  });
}

ApiResponse Why(Call& call) {
  if (!call.view) return Refuse(call, NoSnapshotYet(call.freshness));
  int64_t id = 0;
  const char* end = call.id.data() + call.id.size();
  const auto [rest, status] = std::from_chars(call.id.data(), end, id);
  if (status != std::errc() || rest != end || id < 1) {
    return Refuse(call, {ErrorCode::kBadInput,
                         fmt::format("'{}' is no job id; write its number", call.id), ""});
  }
  return ReplyOrRefuse(call, AnswerJob(id, ViewFor(call), CallerOf(call)));
}

ApiResponse Health(Call& call) {
  json health = {{"status", "ok"},
                 {"history", HistoryJson(call.state.history.state(), call.state.clock.Now())}};
  if (call.peer.anonymous) health["history"].erase("file");  // no path for strangers
  if (!call.view) {
    health["status"] = "starting";
    health["cause"] = NoSnapshotYet(call.freshness).message;
    return Reply(call, std::move(health), 503);
  }
  health["view_seconds"] = call.view->prepared_in_seconds;
  if (call.freshness.cause) {
    health["status"] = "stale";
    health["cause"] = *call.freshness.cause;
  }
  return Reply(call, std::move(health));
}

}  // namespace gpuadvise
