#include "daemon/api/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/words.h"
#include "common/gpu/gpu_pool.h"
#include "common/training/sent_spec.h"
#include "daemon/answers/account_views.h"
#include "daemon/answers/answer_select.h"
#include "daemon/answers/answer_training.h"
#include "daemon/answers/answers.h"
#include "daemon/answers/views.h"
#include "daemon/api/clusters_api.h"
#include "daemon/api/experiment_api.h"
#include "daemon/api/request_context.h"
#include "daemon/api/requests.h"
#include "daemon/api/standby_api.h"
#include "daemon/api/words_api.h"
#include "daemon/base/clock.h"
#include "daemon/http/event_teller.h"
#include "daemon/http/frame.h"
#include "daemon/metrics/metrics.h"
#include "daemon/state/usage_book.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// Rows of one answer to a caller without a name: strangers' connections hold whole answers.
constexpr size_t kMostPublicRows = 200;

// Takes out what is of GPU types that only hidden partitions have.
void KeepSeenTypes(const AdviceContext& context, json& rows) {
  std::set<std::string> seen = {""};
  for (const GpuPool& pool : FindGpuPools(context.snapshot, context.gpus)) seen.insert(pool.Id());
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
                  {"max_bytes", state.info->max_bytes},
                  {"jobs", state.info->jobs},
                  {"oldest_age_seconds", AgeOf(state.info->oldest, now)},
                  {"newest_age_seconds", AgeOf(state.info->newest, now)}});
  return history;
}

ApiResponse GetGpus(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerGpus(AdviceContextOf(call), CallerOf(call)); });
}

ApiResponse GetAccuracy(RequestContext& call) {
  return ReplyOnce(call, [&] {
    const AdviceContext context = AdviceContextOf(call);
    json answer = AnswerAccuracy(context);
    AddScores(context, LocalDateTimeAt, answer);
    if (!call.peer.anonymous) return answer;
    for (const char* part : {"by_gpu", "points"}) KeepSeenTypes(context, answer[part]);
    return answer;
  });
}

ApiResponse GetHistory(RequestContext& call) {
  Result<HistoryQuestion> question = ParseHistoryQuestion(call.request.target);
  if (!question) return Refuse(call, question.error());
  question->anonymous = call.peer.anonymous;
  if (!call.api.history.state().info) question->not_kept = call.api.history.state().problem;
  return ReplyOnce(call, [&] {
    const auto answer = [&](const UsageHistory& history) {
      return AnswerHistory(*question, history, *call.state->snapshot, call.state->catalogues->gpus,
                           LocalDateTimeAt);
    };
    return call.api.usage ? call.api.usage->Read(answer) : answer(UsageHistory());
  });
}

ApiResponse GetEvents(RequestContext& call) {
  if (call.api.events == nullptr) {
    return Refuse(call, {ErrorCode::kUnavailable, "this daemon tells no events", ""});
  }
  ApiResponse response;
  response.content_type = "text/event-stream";
  response.fields = {{"X-Accel-Buffering", "no"}};  // nginx would hold events back
  response.events = call.api.events->Join(call.peer);
  return response;
}

ApiResponse GetQueue(RequestContext& call) {
  Result<QueueFilter> filter = ParseQueueFilter(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  if (call.peer.anonymous) filter->limit = std::min(filter->limit, kMostPublicRows);
  return ReplyOnce(call, [&] {
    return AnswerQueue(*filter, AdviceContextOf(call), call.state->Starts(), CallerOf(call));
  });
}

// Whom the answers are for.
ApiResponse GetMe(RequestContext& call) {
  const Submitter caller = CallerOf(call);
  const std::string& why = call.peer.why_anonymous;
  return Reply(call, {{"user", caller.user.empty() ? json() : json(caller.user)},
                      {"anonymous", call.peer.anonymous},
                      {"note", why.empty() ? json() : json(why)}});
}

ApiResponse GetSite(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerSite(*call.state->snapshot); });
}

ApiResponse GetWaits(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerWaits(AdviceContextOf(call), CallerOf(call)); });
}

ApiResponse GetWaiting(RequestContext& call) {
  return ReplyOnce(call, [&] {
    return AnswerWaiting(AdviceContextOf(call), call.state->Starts(), CallerOf(call));
  });
}

ApiResponse GetUsage(RequestContext& call) {
  const Result<UsageQuestion> question = ParseUsageQuestion(call.request.target);
  if (!question) return Refuse(call, question.error());
  return ReplyOnce(call, [&]() -> Result<json> {
    const AdviceContext context = AdviceContextOf(call);
    const Submitter caller = CallerOf(call);
    const UsageRights rights = RightsToUsage(context.snapshot, caller);
    UsageSums sums(*question, context.snapshot.taken_at, LocalDateTimeAt);
    const Result<void> read =
        call.api.history.EachRun(sums.since(), rights.user, [&](const History::Run& run) {
          sums.Add(run.account, run.gpu, run.gpus, run.start, run.end);
          return !call.budget.Spent();
        });
    if (!read) return tl::unexpected<Error>(read.error());
    json answer = std::move(sums).Answer(rights, context, caller);
    const HistoryState history = call.api.history.state();
    answer["known_since"] =
        history.info && history.info->oldest ? json(*history.info->oldest) : json();
    answer["note"] = history.info ? json()
                                  : json(
                                        "only jobs that run now are counted, because no history is "
                                        "kept: " +
                                        history.problem);
    return answer;
  });
}

// What a form offers.
ApiResponse GetPresets(RequestContext& call) {
  return ReplyOnce(call, [&] { return json{{"presets", call.state->catalogues->models.Names()}}; });
}

ApiResponse GetNodes(RequestContext& call) {
  Result<NodesFilter> filter = ParseNodesFilter(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  if (call.peer.anonymous) filter->limit = std::min(filter->limit, kMostPublicRows);
  return ReplyOnce(call, [&] {
    return AnswerNodes(*filter, AdviceContextOf(call), call.state->Starts(), CallerOf(call));
  });
}

ApiResponse GetJob(RequestContext& call) {
  if (!call.state) return Refuse(call, NoSnapshotYet(call.freshness));
  int64_t id = 0;
  const char* end = call.id.data() + call.id.size();
  const auto [rest, status] = std::from_chars(call.id.data(), end, id);
  if (status != std::errc() || rest != end || id < 1) {
    return Refuse(call, {ErrorCode::kBadInput,
                         fmt::format("{} is no job id; write its number", Quoted(call.id)), ""});
  }
  const auto find = [&](int64_t job, int64_t uid) { return call.api.experiments.Kept(job, uid); };
  return ReplyOrRefuse(call, AnswerJob(id, AdviceContextOf(call), CallerOf(call), find));
}

ApiResponse GetHealth(RequestContext& call) {
  json health = {{"status", "ok"},
                 {"history", HistoryJson(call.api.history.state(), call.api.clock.Now())}};
  if (!call.api.stands_in_for.empty()) health["standing_in"] = true;
  if (call.peer.anonymous) health["history"].erase("file");  // no path for strangers
  if (!call.freshness.passed_over.empty() && !call.peer.anonymous)
    health["passed_over"] = call.freshness.passed_over;
  if (!call.state) {
    health["status"] = "starting";
    health["cause"] = NoSnapshotYet(call.freshness).message;
    return Reply(call, std::move(health), 503);
  }
  health["view_seconds"] = call.state->prepared_in_seconds;
  if (call.freshness.cause) {
    health["status"] = "stale";
    health["cause"] = *call.freshness.cause;
  }
  return Reply(call, std::move(health));
}

template <typename Answer>
using AnswerFunction = Result<Answer> (*)(const json&, const AdviceContext&, const Submitter&);

// `answer` of the request's body; `asked`: the body as it was understood.
template <typename Answer>
Result<Answer> AnswerBody(const RequestContext& call, AnswerFunction<Answer> answer,
                          json* asked = nullptr) {
  if (!call.state) return tl::unexpected<Error>(NoSnapshotYet(call.freshness));
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return tl::unexpected<Error>(std::move(body.error()));
  const Result<Explain> explain = TakeSpecText(*body, call.state->snapshot->taken_at);
  if (!explain) return tl::unexpected<Error>(explain.error());
  if (asked != nullptr) *asked = *body;
  Result<Answer> answered = answer(*body, AdviceContextOf(call), CallerOf(call));
  if (!answered) return tl::unexpected<Error>((*explain)(answered.error()));
  return answered;
}

// Keeps what was advised and gives the answer its id. `request`: as it was asked, of which only
// what is counted with is kept; null: nothing of it.
void KeepAdvice(const RequestContext& call, const json& request, Advised& advised) {
  AdviceStore::Given given{Text(SentRequest(request)), {}};
  const json& strategies = advised.answer.at("strategies");
  for (size_t i = 0; i < advised.offers.size(); ++i) {
    json strategy = strategies[i];
    strategy.erase("stages");
    given.offers.push_back({std::move(advised.offers[i]), Text(strategy)});
  }
  advised.answer["advice_id"] = call.api.advice.Add(call.peer.uid, std::move(given));
}

ApiResponse PostAdvise(RequestContext& call) {
  json asked;
  Result<Advised> advised = AnswerBody(call, AnswerAdvise, &asked);
  if (call.budget.stopped()) return RefuseTooLarge(call);
  if (!advised) return Refuse(call, advised.error());
  if (!call.peer.anonymous) {
    KeepAdvice(call, asked, *advised);
    const std::string& folder = call.api.outcomes_dir;
    advised->answer["outcomes_dir"] = folder.empty() ? json() : json(folder);
  }
  return Reply(call, std::move(advised->answer));
}

ApiResponse PostWhen(RequestContext& call) {
  return ReplyOrRefuse(call, AnswerBody(call, AnswerWhen));
}

ApiResponse PostSelect(RequestContext& call) {
  Result<Advised> advised = AnswerBody(call, AnswerSelect);
  if (call.budget.stopped()) return RefuseTooLarge(call);
  if (!advised) return Refuse(call, advised.error());
  if (!call.peer.anonymous && !advised->offers.empty()) {
    KeepAdvice(call, nullptr, *advised);  // nothing is learned from its job
  }
  return Reply(call, std::move(advised->answer));
}

ApiResponse PostFit(RequestContext& call) {
  return ReplyOrRefuse(call, AnswerBody(call, AnswerFitHere));
}

ApiResponse PostScale(RequestContext& call) {
  return ReplyOrRefuse(call, AnswerBody(call, AnswerScaleHere));
}

Result<int64_t> WholeNumber(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number_integer() || found->get<int64_t>() < 1) {
    return BadInput(fmt::format("{} is missing or no positive whole number", name),
                    fmt::format("/{}", name));
  }
  return found->get<int64_t>();
}

// What the request's body says became of advice that was given to the caller.
Result<Experiment> SubmittedAdvice(const RequestContext& call, Job& job) {
  const auto given = call.api.advice.Find(call.id, call.peer.uid);
  if (!given) {
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("no advice {} was given to you; it may be too old, or the daemon was restarted",
                    Shortened(call.id, kMostQuotedBytes)));
  }
  if (!call.state) return tl::unexpected<Error>(NoSnapshotYet(call.freshness));
  const Submitter caller = CallerOf(call);
  if (caller.user.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("uid {} has no login name on this machine, so Slurm runs no job of "
                            "its; report the job as the user who submitted it",
                            caller.uid));
  }
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return tl::unexpected<Error>(std::move(body.error()));
  const Result<int64_t> job_id = WholeNumber(*body, "job_id");
  if (!job_id) return tl::unexpected<Error>(job_id.error());
  const Result<int64_t> rank = WholeNumber(*body, "rank");
  if (!rank) return tl::unexpected<Error>(rank.error());
  if (*rank > static_cast<int64_t>(given->offers.size())) {
    return Fail(ErrorCode::kNotFound, fmt::format("this advice has no strategy of rank {}", *rank),
                "/rank");
  }
  const AdviceStore::Offer& offer = given->offers[static_cast<size_t>(*rank - 1)];
  job = SubmittedJob(offer.job, *job_id, AdviceContextOf(call), caller);
  Experiment experiment = ExperimentOf(given->request, offer, job, *body);
  experiment.advice_id = call.id;
  experiment.submitted_at = call.api.clock.Now();
  return experiment;
}

// When the user submitted the job, array or het job of this id; nullopt: `snapshot` does not say.
std::optional<UnixSeconds> SubmissionOf(int64_t id, int64_t uid, const Snapshot& snapshot) {
  std::optional<UnixSeconds> submitted_at;
  for (const Job& job : snapshot.jobs) {
    const bool same = id == job.id || id == job.array_job_id || id == job.het_job_id;
    if (!same || job.uid != uid || !job.submit_time) continue;
    submitted_at = std::min(submitted_at.value_or(*job.submit_time), *job.submit_time);
  }
  return submitted_at;
}

ApiResponse PostSubmitted(RequestContext& call) {
  Job job;
  Result<Experiment> experiment = SubmittedAdvice(call, job);
  if (!experiment) return Refuse(call, experiment.error());
  const int64_t id = job.id;
  const Result<ClaimNews> news = call.api.cluster.Claim(std::move(job));
  if (!news) {
    ApiResponse refusal = Refuse(call, news.error());
    if (news.error().code != ErrorCode::kUnavailable) return refusal;
    // Too many to be counted ahead of a snapshot; which advice the job follows is kept all the
    // same.
    call.api.experiments.AddSubmitted(std::move(*experiment), false);
    refusal.status = 429;
    return refusal;
  }
  const bool shown = *news == ClaimNews::kShown;
  if (shown) {
    experiment->submitted_at =
        SubmissionOf(id, call.peer.uid, *call.state->snapshot).value_or(experiment->submitted_at);
  }
  if (*news != ClaimNews::kRepeated) {
    call.api.experiments.AddSubmitted(std::move(*experiment), shown);
  }
  call.api.cluster.PlanClaims(call.peer.uid);
  return Reply(call, {{"job_id", id}});
}

const Snapshot* SnapshotOf(const RequestContext& call) {
  return call.state ? call.state->snapshot.get() : nullptr;
}

ApiResponse PostOutcome(RequestContext& call) {
  if (call.request.body.size() > kMaxSentOutcomeBytes) {
    return Refuse(call, {ErrorCode::kBadInput,
                         fmt::format("the outcome takes {} bytes; {} are taken: leave out the "
                                     "oldest attempts",
                                     call.request.body.size(), kMaxSentOutcomeBytes),
                         "/attempts"});
  }
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return Refuse(call, body.error());
  return ReplyOrRefuse(call, TakeOutcome(*body, CallerOf(call), SnapshotOf(call),
                                         call.api.experiments, call.api.history));
}

ApiResponse GetAdvice(RequestContext& call) {
  return ReplyOrRefuse(call, ExperimentRows(call.request.target, CallerOf(call), SnapshotOf(call),
                                            call.api.experiments));
}

// The limits of `own` against what everybody ran since.
Result<PastLimits> Reviewed(const RequestContext& call, const AdviceContext& context,
                            const std::string& user, const std::vector<JobRecord>& own) {
  PastLimits review = ReviewLimits(own);
  const std::optional<UnixSeconds> from = ReplayFrom(own);
  if (!from) return review;
  const Result<History::RanSince> ran = call.api.history.EverybodySince(*from, kMostReplayedJobs);
  if (!ran) return tl::unexpected<Error>(ran.error());
  ReplayLimits(
      {context.snapshot, ran->jobs, ran->from, user, [&] { return !context.HasRoomForExtras(); }},
      review);
  return review;
}

ApiResponse GetLimits(RequestContext& call) {
  if (!call.state) return Refuse(call, NoSnapshotYet(call.freshness));
  const Result<PastLimitsQuestion> question = ParsePastLimitsQuestion(call.request.target);
  if (!question) return Refuse(call, question.error());
  const AdviceContext context = AdviceContextOf(call);
  const Result<std::string> user = ReviewedUser(*question, context.snapshot, CallerOf(call));
  if (!user) return Refuse(call, user.error());
  const HistoryState history = call.api.history.state();
  if (!history.info) {
    return Refuse(call, {ErrorCode::kUnavailable,
                         "no job that has ended is remembered: " + history.problem, ""});
  }
  const UnixSeconds now = context.snapshot.taken_at;
  const UnixSeconds since = question->since.value_or(now - kReviewedSeconds);
  const auto own = call.api.history.RunsOf(*user, since, kMostReviewedJobs);
  if (!own) return Refuse(call, own.error());
  const Result<PastLimits> review = Reviewed(call, context, *user, *own);
  if (!review) return Refuse(call, review.error());
  return ReplyOrRefuse(call, AnswerPastLimits(*review, *user, since, now));
}

// In Prometheus' text format, without the frame.
ApiResponse GetMetrics(RequestContext& call) {
  if (call.api.metrics == nullptr) {
    return Refuse(call, {ErrorCode::kUnavailable, "this daemon keeps no metrics", ""});
  }
  ApiResponse response;
  response.content_type = kMetricsContentType;
  response.body = call.api.metrics->Text(call.peer);
  return response;
}

struct Route {
  const char* method;
  const char* before;  // the path, up to its {id}
  const char* after;   // what follows the {id}; nullptr: the path has none
  bool anonymous;      // may be asked over TCP
  ApiResponse (*answer)(RequestContext& call);
  const char* parameters = "";  // of the query, with commas between them
  int64_t work = 1;             // times the CPU time of any other answer (ApiState::most_work)
  const char* name = before;    // in metrics; other than the path where that has an {id}
};

// What plays days of everybody's jobs takes seconds; it stops where its time is over and tells what
// it has (common/forecast/limit_replay.cc). The caller's turns pay for it
// (daemon/http/fair_queue.h).
constexpr int64_t kReplayWork = 12;

const Route kRoutes[] = {
    {"POST", "/v1/advise", nullptr, true, PostAdvise},
    {"POST", "/v1/when", nullptr, true, PostWhen},
    {"POST", "/v1/select", nullptr, true, PostSelect},
    {"POST", "/v1/fit", nullptr, true, PostFit},
    {"POST", "/v1/scale", nullptr, true, PostScale},
    {"GET", "/v1/gpus", nullptr, true, GetGpus},
    {"GET", "/v1/queue", nullptr, true, GetQueue, "user,partition,gpu,search,state,offset,limit"},
    {"GET", "/v1/waits", nullptr, true, GetWaits},
    {"GET", "/v1/me", nullptr, true, GetMe},
    {"GET", "/v1/site", nullptr, false, GetSite},
    {"GET", "/v1/nodes", nullptr, true, GetNodes, "partition,gpu,search,condition,offset,limit"},
    {"GET", "/v1/jobs/", "", true, GetJob, "", 1, "/v1/jobs/{id}"},
    {"GET", "/v1/accuracy", nullptr, true, GetAccuracy},
    {"GET", "/v1/history", nullptr, true, GetHistory, "weeks,gpu"},
    {"POST", "/v1/advice/", "/submitted", false, PostSubmitted, "", 1, "/v1/advice/{id}/submitted"},
    {"GET", "/v1/advice", nullptr, false, GetAdvice, "job,limit"},
    {"POST", "/v1/outcomes", nullptr, false, PostOutcome},
    {"GET", "/v1/waiting", nullptr, true, GetWaiting},
    {"GET", "/v1/usage", nullptr, true, GetUsage, "weeks", kReplayWork},
    {"GET", "/v1/presets", nullptr, true, GetPresets},
    {"POST", "/v1/words", nullptr, true, PostWords},
    {"GET", "/v1/clusters", nullptr, true, GetClusters},
    {"POST", "/v1/clusters/", "/advise", true, PostClusterAdvise, "", 1,
     "/v1/clusters/{id}/advise"},
    {"GET", "/v1/limits", nullptr, false, GetLimits, "user,since", kReplayWork},
    {"GET", "/v1/events", nullptr, true, GetEvents},
    {"GET", "/v1/standby", nullptr, false, GetStandby},
    {"POST", "/v1/standby/copy", nullptr, false, PostStandbyCopy},
    {"GET", "/v1/standby/copy/", "", false, GetStandbyCopy, "offset", 1, "/v1/standby/copy/{id}"},
    {"POST", "/v1/standby/rows", nullptr, false, PostStandbyRows},
    {"GET", "/healthz", nullptr, true, GetHealth},
    {"GET", "/metrics", nullptr, true, GetMetrics},
};

// Whether `path` is the route's; its {id} goes to `id`.
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

std::string_view PathOf(const ApiRequest& request) {
  const std::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

// Times the CPU time of any other answer.
int64_t WorkOf(const ApiRequest& request) {
  std::string id;
  for (const Route& route : kRoutes) {
    if (Matches(route, PathOf(request), id)) return route.work;
  }
  return 1;
}

ApiResponse Dispatch(RequestContext& call) {
  const std::string_view target = call.request.target;
  const std::string_view path = PathOf(call.request);
  std::string allow;
  for (const Route& route : kRoutes) {
    if (!Matches(route, path, call.id)) continue;
    if (call.peer.anonymous && !route.anonymous) continue;
    call.route = route.name;
    if (call.request.method == route.method) {
      const Result<void> query = CheckQuery(target, route.parameters);
      return query ? route.answer(call) : Refuse(call, query.error());
    }
    allow = route.method;
  }
  if (allow.empty()) {
    return Refuse(call, {ErrorCode::kNotFound,
                         fmt::format("there is no {}; docs/api.md lists what can be asked",
                                     Shortened(path, kMostQuotedBytes)),
                         ""});
  }
  ApiResponse response =
      Refuse(call, {ErrorCode::kBadInput,
                    fmt::format("{} wants {}, not {}", path, allow, call.request.method), ""});
  response.status = 405;
  response.allow = allow;
  return response;
}

void CountAnswer(const RequestContext& call, const ApiResponse& response) {
  if (call.api.metrics == nullptr) return;
  call.api.metrics->Count(call.route, call.request.method, response, call.peer.anonymous);
}

}  // namespace

ApiResponse Handle(const ApiRequest& request, const Peer& peer, ApiState& api) {
  const auto state = api.cluster.state();
  WorkBudget budget(WorkOf(request) * api.most_work.For(state ? state->snapshot.get() : nullptr),
                    api.cpu_time);
  const WorkBudget::Share share(budget);
  RequestContext call{request, peer, api, state, {}, "", api.experiments.learned(), budget};
  call.freshness = api.cluster.FreshnessOf(state.get());
  try {
    ApiResponse response = Dispatch(call);
    response.cpu_time = budget.used();
    CountAnswer(call, response);
    return response;
  } catch (const std::exception& error) {
    ApiResponse response =
        Refuse(call, {ErrorCode::kInternal,
                      fmt::format("a bug while answering {}: {}",
                                  Shortened(request.target, kMostQuotedBytes), error.what()),
                      ""});
    CountAnswer(call, response);
    return response;
  }
}

}  // namespace gpuadvise::daemon
