#include "daemon/handlers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/answer_select.h"
#include "common/answers.h"
#include "daemon/experiment_api.h"
#include "daemon/frame.h"
#include "daemon/query.h"
#include "daemon/request_json.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

/// One request on its way: the picture it is answered from never changes under it.
struct Call {
  const ApiRequest& request;
  const Peer& peer;
  ApiState& state;
  std::shared_ptr<const View> view;
  Freshness freshness;
  std::string id;  // the {id} of the path
  std::shared_ptr<const LearnedRuns> learned;
};

struct Route {
  const char* method;
  const char* before;  // the path, up to its {id}
  const char* after;   // what follows the {id}; nullptr: the path has none
  bool anonymous;      // may be asked over TCP
  ApiResponse (*answer)(Call& call);
};

ApiResponse Reply(const Call& call, json answer, int status = 200) {
  return {status, Text(Framed(std::move(answer), call.view.get(), call.freshness)), ""};
}

ApiResponse Refuse(const Call& call, const Error& error) {
  return {StatusOf(error.code), Text(FramedError(error, call.view.get(), call.freshness)), ""};
}

Error NoSnapshotYet(const Freshness& freshness) {
  std::string cause =
      freshness.cause.value_or("the first one is on its way; ask again in a moment");
  return {ErrorCode::kUnavailable, "no snapshot of the cluster yet: " + std::move(cause), ""};
}

ClusterView ViewFor(const Call& call) {
  const View& view = *call.view;
  return {*view.snapshot,         *view.queue,         *view.at_limits,   view.knowledge->gpus,
          view.knowledge->models, call.state.for_each, call.learned.get()};
}

Submitter CallerOf(const Call& call) {
  Submitter caller;
  if (call.peer.anonymous) return caller;
  caller.uid = call.peer.uid;
  caller.user = call.state.users.NameOf(call.peer.uid);
  return caller;
}

/// `answer` of the request's body, in the frame.
using AnswerFunction = Result<json> (*)(const json&, const ClusterView&, const Submitter&);

Result<json> AnswerBody(const Call& call, AnswerFunction answer) {
  if (!call.view) return tl::unexpected<Error>(NoSnapshotYet(call.freshness));
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return body;
  return answer(*body, ViewFor(call), CallerOf(call));
}

ApiResponse Advise(Call& call) {
  Result<json> answer = AnswerBody(call, AnswerAdvise);
  if (!answer) return Refuse(call, answer.error());
  if (!call.peer.anonymous) {
    (*answer)["advice_id"] =
        call.state.advice.Add(call.peer.uid, {call.request.body, Text(*answer)});
    const std::string& folder = call.state.outcomes_dir;
    (*answer)["outcomes_dir"] = folder.empty() ? json() : json(folder);
  }
  return Reply(call, std::move(*answer));
}

ApiResponse When(Call& call) {
  Result<json> answer = AnswerBody(call, AnswerWhen);
  return answer ? Reply(call, std::move(*answer)) : Refuse(call, answer.error());
}

ApiResponse Select(Call& call) {
  Result<json> answer = AnswerBody(call, AnswerSelect);
  if (!answer) return Refuse(call, answer.error());
  if (!call.peer.anonymous && answer->contains("strategies")) {
    (*answer)["advice_id"] =
        call.state.advice.Add(call.peer.uid, {call.request.body, Text(*answer)});
  }
  return Reply(call, std::move(*answer));
}

ApiResponse Gpus(Call& call) {
  if (!call.view) return Refuse(call, NoSnapshotYet(call.freshness));
  return Reply(call, AnswerGpus(ViewFor(call), CallerOf(call)));
}

ApiResponse AccuracyOfStarts(Call& call) {
  if (!call.view) return Refuse(call, NoSnapshotYet(call.freshness));
  return Reply(call, AnswerAccuracy(ViewFor(call)));
}

ApiResponse Queue(Call& call) {
  if (!call.view) return Refuse(call, NoSnapshotYet(call.freshness));
  const Result<QueueFilter> filter = FilterFrom(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  return Reply(call, AnswerQueue(*filter, ViewFor(call), call.view->Starts(), CallerOf(call)));
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
  Result<json> answer = AnswerJob(id, ViewFor(call), CallerOf(call));
  return answer ? Reply(call, std::move(*answer)) : Refuse(call, answer.error());
}

Result<int64_t> WholeNumber(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number_integer() || found->get<int64_t>() < 1) {
    return BadInput(fmt::format("{} is missing or no positive whole number", name),
                    fmt::format("/{}", name));
  }
  return found->get<int64_t>();
}

/// What the request's body says became of advice that was given to the caller.
Result<Experiment> SubmittedAdvice(const Call& call, Job& job) {
  const auto given = call.state.advice.Find(call.id, call.peer.uid);
  if (!given) {
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("no advice {} was given to you; it may be too old, or the daemon was restarted",
                    call.id));
  }
  if (!call.view) return tl::unexpected<Error>(NoSnapshotYet(call.freshness));
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return tl::unexpected<Error>(std::move(body.error()));
  const Result<int64_t> job_id = WholeNumber(*body, "job_id");
  if (!job_id) return tl::unexpected<Error>(job_id.error());
  const Result<int64_t> rank = WholeNumber(*body, "rank");
  if (!rank) return tl::unexpected<Error>(rank.error());
  for (const Job& queued : call.view->snapshot->jobs) {
    if (queued.id == *job_id && queued.uid != call.peer.uid) {
      return Fail(ErrorCode::kNotFound, fmt::format("job {} is not yours", *job_id), "/job_id");
    }
  }
  Result<Job> submitted =
      SubmittedJob(json::parse(given->answer), *rank, *job_id, ViewFor(call), CallerOf(call));
  if (!submitted) return tl::unexpected<Error>(submitted.error());
  job = std::move(*submitted);
  Experiment experiment = ExperimentOf(*given, *rank, job, *body);
  experiment.advice_id = call.id;
  experiment.submitted_at = call.state.clock.Now();
  return experiment;
}

ApiResponse Submitted(Call& call) {
  Job job;
  Result<Experiment> experiment = SubmittedAdvice(call, job);
  if (!experiment) return Refuse(call, experiment.error());
  const int64_t id = job.id;
  call.state.experiments.Submitted(std::move(*experiment));
  call.state.cluster.AddSubmitted(std::move(job));
  return Reply(call, {{"job_id", id}});
}

const Snapshot* SnapshotOf(const Call& call) {
  return call.view ? call.view->snapshot.get() : nullptr;
}

ApiResponse Outcomes(Call& call) {
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return Refuse(call, body.error());
  Result<json> taken = TakeOutcome(*body, CallerOf(call), SnapshotOf(call), call.state.experiments,
                                   call.state.history);
  return taken ? Reply(call, std::move(*taken)) : Refuse(call, taken.error());
}

ApiResponse AdviceGiven(Call& call) {
  Result<json> rows =
      ExperimentRows(call.request.target, CallerOf(call), SnapshotOf(call), call.state.experiments);
  return rows ? Reply(call, std::move(*rows)) : Refuse(call, rows.error());
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

ApiResponse Health(Call& call) {
  json health = {{"status", "ok"},
                 {"history", HistoryJson(call.state.history.state(), call.state.clock.Now())}};
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

const Route kRoutes[] = {
    {"POST", "/v1/advise", nullptr, true, Advise},
    {"POST", "/v1/when", nullptr, true, When},
    {"POST", "/v1/select", nullptr, true, Select},
    {"GET", "/v1/gpus", nullptr, true, Gpus},
    {"GET", "/v1/queue", nullptr, true, Queue},
    {"GET", "/v1/jobs/", "", true, Why},
    {"GET", "/v1/accuracy", nullptr, true, AccuracyOfStarts},
    {"POST", "/v1/advice/", "/submitted", false, Submitted},
    {"GET", "/v1/advice", nullptr, false, AdviceGiven},
    {"POST", "/v1/outcomes", nullptr, false, Outcomes},
    {"GET", "/healthz", nullptr, true, Health},
};

/// Whether `path` is the route's; its {id} goes to `id`.
bool Matches(const Route& route, std::string_view path, std::string& id) {
  const std::string_view before = route.before;
  if (route.after == nullptr) return path == before;
  const std::string_view after = route.after;
  if (path.size() <= before.size() + after.size()) return false;
  if (path.substr(0, before.size()) != before) return false;
  if (path.substr(path.size() - after.size()) != after) return false;
  const std::string_view middle =
      path.substr(before.size(), path.size() - before.size() - after.size());
  if (middle.find('/') != std::string_view::npos) return false;
  id = middle;
  return true;
}

ApiResponse Dispatch(Call& call) {
  const std::string_view target = call.request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  std::string allow;
  for (const Route& route : kRoutes) {
    if (!Matches(route, path, call.id)) continue;
    if (call.peer.anonymous && !route.anonymous) continue;
    if (call.request.method == route.method) return route.answer(call);
    allow = route.method;
  }
  if (allow.empty()) {
    return Refuse(call,
                  {ErrorCode::kNotFound,
                   fmt::format("there is no {}; docs/api.md lists what can be asked", path), ""});
  }
  ApiResponse response =
      Refuse(call, {ErrorCode::kBadInput,
                    fmt::format("{} wants {}, not {}", path, allow, call.request.method), ""});
  response.status = 405;
  response.allow = allow;
  return response;
}

}  // namespace

ApiResponse Handle(const ApiRequest& request, const Peer& peer, ApiState& state) {
  Call call{request, peer, state, state.cluster.view(), {}, "", state.experiments.learned()};
  call.freshness = state.cluster.FreshnessOf(call.view.get());
  try {
    return Dispatch(call);
  } catch (const std::exception& error) {
    return Refuse(call,
                  {ErrorCode::kInternal,
                   fmt::format("a bug while answering {}: {}", request.target, error.what()), ""});
  }
}

}  // namespace gpuadvise
