#include "daemon/handlers.h"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/api_call.h"
#include "daemon/cluster_api.h"
#include "daemon/experiment_api.h"
#include "daemon/question_api.h"
#include "daemon/request_json.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

struct Route {
  const char* method;
  const char* before;  // the path, up to its {id}
  const char* after;   // what follows the {id}; nullptr: the path has none
  bool anonymous;      // may be asked over TCP
  ApiResponse (*answer)(Call& call);
};

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
  return ReplyOrRefuse(call, TakeOutcome(*body, CallerOf(call), SnapshotOf(call),
                                         call.state.experiments, call.state.history));
}

ApiResponse AdviceGiven(Call& call) {
  return ReplyOrRefuse(call, ExperimentRows(call.request.target, CallerOf(call), SnapshotOf(call),
                                            call.state.experiments));
}

const Route kRoutes[] = {
    {"POST", "/v1/advise", nullptr, true, Advise},
    {"POST", "/v1/when", nullptr, true, When},
    {"POST", "/v1/select", nullptr, true, Select},
    {"POST", "/v1/fit", nullptr, true, Fit},
    {"POST", "/v1/scale", nullptr, true, Scale},
    {"GET", "/v1/gpus", nullptr, true, Gpus},
    {"GET", "/v1/queue", nullptr, true, Queue},
    {"GET", "/v1/waits", nullptr, true, Waits},
    {"GET", "/v1/nodes", nullptr, true, Nodes},
    {"GET", "/v1/jobs/", "", true, Why},
    {"GET", "/v1/accuracy", nullptr, true, AccuracyOfStarts},
    {"GET", "/v1/history", nullptr, true, PastOfGpus},
    {"POST", "/v1/advice/", "/submitted", false, Submitted},
    {"GET", "/v1/advice", nullptr, false, AdviceGiven},
    {"POST", "/v1/outcomes", nullptr, false, Outcomes},
    {"GET", "/v1/events", nullptr, true, Events},
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
