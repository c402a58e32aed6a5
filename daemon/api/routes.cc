#include "daemon/api/routes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/api/accounts.h"
#include "common/api/experiment.h"
#include "common/base/words.h"
#include "common/gpu/gpu_pool.h"
#include "common/spec/sent_spec.h"
#include "daemon/answers/account_views.h"
#include "daemon/answers/answer_select.h"
#include "daemon/answers/answer_training.h"
#include "daemon/answers/answers.h"
#include "daemon/answers/views.h"
#include "daemon/api/answer_cache.h"
#include "daemon/api/event_teller.h"
#include "daemon/api/experiment_api.h"
#include "daemon/api/frame.h"
#include "daemon/api/request_context.h"
#include "daemon/api/requests.h"
#include "daemon/api/sweep_progress.h"
#include "daemon/base/clock.h"
#include "daemon/metrics/metrics.h"
#include "daemon/state/submitted_jobs.h"
#include "daemon/state/usage_book.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// Rows of one answer to a caller without a name: strangers' connections hold whole answers.
constexpr size_t kMostPublicRows = 200;

// Takes out what is of GPU types that only hidden partitions have.
template <typename Row>
void KeepSeenTypes(const AdviceContext& context, std::vector<Row>& rows) {
  std::set<std::string> seen = {""};
  for (const GpuPool& pool : context.Pools()) seen.insert(pool.Id());
  std::erase_if(rows, [&](const Row& row) { return !seen.contains(row.gpu); });
}

std::optional<int64_t> AgeOf(std::optional<UnixSeconds> time, UnixSeconds now) {
  return time ? std::optional(std::max<int64_t>(now - *time, 0)) : std::nullopt;
}

// Whether the caller may know where the history is: the address, user and name of a database are
// for the daemon's administrators.
bool MaySeePlace(const RequestContext& call) {
  const bool is_admin = call.peer.uid == 0 || call.peer.uid == static_cast<int64_t>(::geteuid());
  return !call.api.history_in_server || (is_admin && !call.peer.anonymous);
}

std::string TroubleFor(const RequestContext& call, const std::string& trouble) {
  return trouble.empty() || MaySeePlace(call)
             ? trouble
             : "the database of the history cannot be used; gpuadvised's log says why";
}

// No path for strangers.
api::HistoryState HistoryOf(const RequestContext& call) {
  const HistoryState state = call.api.history.state();
  const UnixSeconds now = call.api.clock.Now();
  const std::string problem = TroubleFor(call, state.problem);
  api::HistoryState history;
  if (!problem.empty()) history.problem = problem;
  if (!state.info) return history;
  history.info = {"",
                  state.info->bytes,
                  state.info->max_bytes,
                  state.info->jobs,
                  AgeOf(state.info->oldest, now),
                  AgeOf(state.info->newest, now)};
  if (call.peer.anonymous) return history;
  history.info->file = MaySeePlace(call) ? state.info->file : "postgresql";
  return history;
}

// None for strangers.
std::vector<std::string> SiteProblems(const RequestContext& call) {
  if (call.peer.anonymous) return {};
  std::vector<std::string> problems = call.state->site_problems;
  const std::string accounting = call.api.accounting_problem ? call.api.accounting_problem() : "";
  if (!accounting.empty()) problems.push_back(accounting);
  return problems;
}

ApiResponse GetGpus(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerGpus(AdviceContextOf(call), CallerOf(call)); });
}

ApiResponse GetAccuracy(RequestContext& call) {
  return ReplyOnce(call, [&] {
    const AdviceContext context = AdviceContextOf(call);
    api::Accuracy answer = AnswerAccuracy(context);
    AddScores(context, LocalDateTimeAt, answer);
    if (call.peer.anonymous) {
      KeepSeenTypes(context, answer.by_gpu);
      KeepSeenTypes(context, answer.points);
    }
    return ToJson(answer);
  });
}

ApiResponse GetHistory(RequestContext& call) {
  Result<HistoryQuestion> question = ParseHistoryQuestion(call.request.target);
  if (!question) return Refuse(call, question.error());
  question->anonymous = call.peer.anonymous;
  if (const HistoryState history = call.api.history.state(); !history.info) {
    question->not_kept = TroubleFor(call, history.problem);
  }
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

// All jobs of the filter as CSV, also for strangers, of whom few get one at a time.
ApiResponse ReplyFile(const RequestContext& call, const QueueFilter& filter) {
  if (!call.state) return Refuse(call, NoSnapshotYet(call.freshness));
  const bool shared = call.peer.anonymous && call.api.shared != nullptr;
  ApiResponse response;
  response.held = shared ? call.api.shared->TakeFile() : nullptr;
  if (shared && response.held == nullptr) {
    response = Refuse(call, {ErrorCode::kUnavailable,
                             "other callers receive such files now; try again in a moment", ""});
    response.fields.emplace_back("Retry-After", "5");
    return response;
  }
  response.body = QueueFile(filter, AdviceContextOf(call), call.state->Starts(), CallerOf(call));
  if (call.budget.stopped()) return Refuse(call, call.budget.error());
  response.content_type = "text/csv; charset=utf-8";
  response.fields.emplace_back("Content-Disposition", "attachment; filename=\"jobs.csv\"");
  return response;
}

ApiResponse GetQueue(RequestContext& call) {
  Result<QueueFilter> filter = ParseQueueFilter(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  if (filter->as_file) return ReplyFile(call, *filter);
  if (call.peer.anonymous) filter->limit = std::min(filter->limit, kMostPublicRows);
  return ReplyOnce(call, [&] {
    const Sweeps sweeps{[&](const Job& job) { return SweepOf(job, call.api.experiments); },
                        [&](const auto& named) { return ProgressOf(named, call); }};
    return AnswerQueue(*filter, AdviceContextOf(call), call.state->Starts(), CallerOf(call),
                       sweeps);
  });
}

// Whom the answers are for.
ApiResponse GetMe(RequestContext& call) {
  const Submitter caller = CallerOf(call);
  const std::string& why = call.peer.why_anonymous;
  api::Me me;
  if (!caller.user.empty()) me.user = caller.user;
  me.anonymous = call.peer.anonymous;
  if (!why.empty()) me.note = why;
  return Reply(call, ToJson(me));
}

ApiResponse GetSite(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerSite(*call.state->snapshot, SiteProblems(call)); });
}

ApiResponse GetScheduler(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerScheduler(*call.state->snapshot, CallerOf(call)); });
}

ApiResponse GetWaits(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerWaits(AdviceContextOf(call), CallerOf(call)); });
}

ApiResponse GetFree(RequestContext& call) {
  const Result<int64_t> hours = ParseFreeHours(call.request.target);
  if (!hours) return Refuse(call, hours.error());
  return ReplyOnce(call,
                   [&] { return AnswerFree(*hours, AdviceContextOf(call), call.state->Free()); });
}

ApiResponse GetWaiting(RequestContext& call) {
  return ReplyOnce(call, [&] {
    return AnswerWaiting(AdviceContextOf(call), call.state->Starts(), CallerOf(call));
  });
}

// Since when the history knows of jobs, or why there is none.
template <typename Answer>
void SayWhatIsKnown(const RequestContext& call, Answer& answer) {
  const HistoryState history = call.api.history.state();
  if (history.info) {
    answer.known_since = history.info->oldest;
  } else {
    answer.note = "only jobs that run now are counted, because no history is kept: " +
                  TroubleFor(call, history.problem);
  }
}

JobRun RunOf(const History::Run& run) {
  return {run.user, run.account, run.gpu, run.gpus, run.eligible, run.start, run.end};
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
          sums.Add(RunOf(run));
          return !call.budget.Spent();
        });
    if (!read) return tl::unexpected<Error>(read.error());
    api::Usage answer = std::move(sums).Answer(rights, context, caller);
    SayWhatIsKnown(call, answer);
    return ToJson(answer);
  });
}

ApiResponse GetUsers(RequestContext& call) {
  const Result<UsersQuestion> question = ParseUsersQuestion(call.request.target);
  if (!question) return Refuse(call, question.error());
  return ReplyOnce(call, [&]() -> Result<json> {
    const AdviceContext context = AdviceContextOf(call);
    const Submitter caller = CallerOf(call);
    UserSums sums(*question, RightsToUsage(context.snapshot, caller), context.snapshot.taken_at);
    const Result<void> read =
        call.api.history.EachRun(sums.since(), "", [&](const History::Run& run) {
          sums.Add(RunOf(run));
          return !call.budget.Spent();
        });
    if (!read) return tl::unexpected<Error>(read.error());
    api::Users answer = std::move(sums).Answer(context, call.state->Starts(), caller);
    SayWhatIsKnown(call, answer);
    return ToJson(answer);
  });
}

// What a form offers.
ApiResponse GetPresets(RequestContext& call) {
  return ReplyOnce(call,
                   [&] { return ToJson(api::Presets{call.state->catalogues->models.Names()}); });
}

ApiResponse GetNodes(RequestContext& call) {
  Result<NodesFilter> filter = ParseNodesFilter(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  if (call.peer.anonymous) filter->limit = std::min(filter->limit, kMostPublicRows);
  return ReplyOnce(call, [&] {
    return AnswerNodes(*filter, AdviceContextOf(call), call.state->Starts(), CallerOf(call));
  });
}

ApiResponse GetTimeline(RequestContext& call) {
  const Result<TimelineFilter> filter = ParseTimelineFilter(call.request.target);
  if (!filter) return Refuse(call, filter.error());
  return ReplyOnce(call, [&] {
    return AnswerTimeline(*filter, AdviceContextOf(call), call.state->Starts(), call.api.node_past,
                          CallerOf(call));
  });
}

ApiResponse GetMap(RequestContext& call) {
  return ReplyOnce(call, [&] { return AnswerMap(AdviceContextOf(call), CallerOf(call)); });
}

ApiResponse GetJob(RequestContext& call) {
  if (!call.state) return Refuse(call, NoSnapshotYet(call.freshness));
  const auto find = [&](int64_t job, int64_t uid) { return call.api.experiments.Kept(job, uid); };
  return ReplyOrRefuse(call, AnswerJob(call.id, AdviceContextOf(call), CallerOf(call), find));
}

ApiResponse GetHealth(RequestContext& call) {
  api::Health health;
  health.status = "ok";
  health.history = HistoryOf(call);
  if (!call.peer.anonymous) health.passed_over = call.freshness.passed_over;
  if (call.api.history.StandsBy()) {
    health.status = "standby";
    return Reply(call, ToJson(health));
  }
  if (!call.state) {
    health.status = "starting";
    health.cause = NoSnapshotYet(call.freshness).message;
    return Reply(call, ToJson(health), 503);
  }
  health.site_problems = SiteProblems(call);
  health.view_seconds = call.state->prepared_in_seconds;
  if (call.freshness.cause) {
    health.status = "stale";
    health.cause = *call.freshness.cause;
  }
  return Reply(call, ToJson(health));
}

using AnswerFunction = Result<json> (*)(const json&, const AdviceContext&, const Submitter&);

// `answer` of the request's body; `asked`: the body as it was understood.
Result<json> AnswerBody(const RequestContext& call, AnswerFunction answer, json* asked = nullptr) {
  if (!call.state) return tl::unexpected<Error>(NoSnapshotYet(call.freshness));
  Result<json> body = ParseRequestJson(call.request.body);
  if (!body) return body;
  const Result<Explain> explain = TakeSpecText(*body, call.state->snapshot->taken_at);
  if (!explain) return tl::unexpected<Error>(explain.error());
  if (asked != nullptr) *asked = *body;
  Result<json> answered = answer(*body, AdviceContextOf(call), CallerOf(call));
  if (!answered) return tl::unexpected<Error>((*explain)(answered.error()));
  return answered;
}

// Keeps what was advised and gives the answer its id. `request`: as it was asked, of which only
// what is counted with is kept; null: nothing of it.
void KeepAdvice(const RequestContext& call, const json& request, json& answer) {
  AdviceStore::Given given{answer.value("name", ""), Text(SentRequest(request)), {}};
  for (json strategy : answer.at("strategies")) {
    strategy.erase("stages");
    given.strategies.push_back(Text(strategy));
  }
  answer["advice_id"] = call.api.advice.Add(call.peer.uid, std::move(given));
}

ApiResponse PostAdvise(RequestContext& call) {
  json asked;
  Result<json> answer = AnswerBody(call, AnswerAdvise, &asked);
  if (answer && !call.peer.anonymous && !call.budget.stopped()) {
    KeepAdvice(call, asked, *answer);
    const std::string& folder = call.api.outcomes_dir;
    if (!folder.empty()) (*answer)["outcomes_dir"] = folder;
  }
  return ReplyOrRefuse(call, std::move(answer));
}

ApiResponse PostWhen(RequestContext& call) {
  return ReplyOrRefuse(call, AnswerBody(call, AnswerWhen));
}

ApiResponse PostSelect(RequestContext& call) {
  Result<json> answer = AnswerBody(call, AnswerSelect);
  if (answer && !call.peer.anonymous && !call.budget.stopped() && answer->contains("strategies")) {
    KeepAdvice(call, nullptr, *answer);  // nothing is learned from its job
  }
  return ReplyOrRefuse(call, std::move(answer));
}

ApiResponse PostFit(RequestContext& call) {
  return ReplyOrRefuse(call, AnswerBody(call, AnswerFitHere));
}

ApiResponse PostScale(RequestContext& call) {
  return ReplyOrRefuse(call, AnswerBody(call, AnswerScaleHere));
}

ApiResponse PostMeasured(RequestContext& call) {
  return ReplyOrRefuse(call, AnswerBody(call, AnswerMeasured));
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
Result<Experiment> SubmittedAdvice(const RequestContext& call) {
  const auto given = call.api.advice.Find(call.id, call.peer.uid);
  if (!given) {
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("no advice {} was given to you; it may be too old, or the daemon was restarted",
                    Shortened(call.id, kMaxQuotedBytes)));
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
  if (*rank > static_cast<int64_t>(given->strategies.size())) {
    return Fail(ErrorCode::kNotFound, fmt::format("this advice has no strategy of rank {}", *rank),
                "/rank");
  }
  Result<SweepPart> sweep = SweepIn(*body, *job_id, call);
  if (!sweep) return tl::unexpected<Error>(std::move(sweep.error()));
  Experiment experiment = ExperimentOf(*given, static_cast<size_t>(*rank - 1), *body);
  experiment.sweep = *sweep;
  experiment.job_id = *job_id;
  experiment.uid = caller.uid;
  experiment.user = caller.user;
  experiment.advice_id = call.id;
  experiment.submitted_at = call.api.clock.Now();
  return experiment;
}

// `answer` to what is to be kept, with a warning where that may be lost.
ApiResponse ReplyKept(const RequestContext& call, json answer) {
  if (const std::string trouble = TroubleFor(call, call.api.history.Trouble()); !trouble.empty()) {
    answer["warnings"] = {
        "kept in memory alone, and lost if gpuadvised ends before the history "
        "can be written: " +
        trouble};
  }
  return Reply(call, std::move(answer));
}

// Nobody can prove that they have just submitted a job, so the report is a row of the log that its
// user alone sees, and a reason to ask Slurm. What everybody's forecasts count comes from there.
ApiResponse PostSubmitted(RequestContext& call) {
  Result<Experiment> experiment = SubmittedAdvice(call);
  if (!experiment) return Refuse(call, experiment.error());
  const int64_t id = experiment->job_id;
  const Snapshot& snapshot = *call.state->snapshot;
  const auto shown =
      SubmissionOf(id, call.peer.uid, snapshot, snapshot.taken_at + call.freshness.age_seconds);
  if (!shown) return Refuse(call, shown.error());
  if (*shown) experiment->submitted_at = **shown;
  call.api.experiments.AddSubmitted(std::move(*experiment), shown->has_value());
  if (!*shown && call.api.poll_soon) call.api.poll_soon();
  return ReplyKept(call, ToJson(api::Reported{id}));
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
  const Result<json> taken =
      TakeOutcome(*body, CallerOf(call), SnapshotOf(call), call.api.experiments, call.api.history);
  return taken ? ReplyKept(call, *taken) : Refuse(call, taken.error());
}

ApiResponse GetAdvice(RequestContext& call) {
  Result<api::Experiments> rows =
      ExperimentRows(call.request.target, CallerOf(call), SnapshotOf(call), call.api.experiments);
  if (!rows) return Refuse(call, rows.error());
  std::vector<SweepName> sweeps;
  for (const api::Experiment& job : rows->jobs) {
    if (job.sweep) sweeps.emplace_back(*job.sweep, call.peer.uid);
  }
  rows->sweeps = ProgressOf(sweeps, call);
  return Reply(call, ToJson(*rows));
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
  const char* name = before;    // in metrics; other than the path where that has an {id}
};

const Route kRoutes[] = {
    {"POST", "/v1/advise", nullptr, true, PostAdvise},
    {"POST", "/v1/when", nullptr, true, PostWhen},
    {"POST", "/v1/select", nullptr, true, PostSelect},
    {"POST", "/v1/fit", nullptr, true, PostFit},
    {"POST", "/v1/scale", nullptr, true, PostScale},
    {"POST", "/v1/measured", nullptr, true, PostMeasured},
    {"GET", "/v1/gpus", nullptr, true, GetGpus},
    {"GET", "/v1/queue", nullptr, true, GetQueue,
     "user,account,qos,partition,gpu,search,state,sort,format,offset,limit"},
    {"GET", "/v1/waits", nullptr, true, GetWaits},
    {"GET", "/v1/free", nullptr, true, GetFree, "hours"},
    {"GET", "/v1/me", nullptr, true, GetMe},
    {"GET", "/v1/site", nullptr, false, GetSite},
    {"GET", "/v1/scheduler", nullptr, true, GetScheduler},
    {"GET", "/v1/nodes", nullptr, true, GetNodes,
     "partition,gpu,node,search,condition,offset,limit"},
    {"GET", "/v1/map", nullptr, true, GetMap},
    {"GET", "/v1/timeline", nullptr, true, GetTimeline,
     "partition,gpu,node,search,condition,hours,offset,limit"},
    {"GET", "/v1/jobs/", "", true, GetJob, "", "/v1/jobs/{id}"},
    {"GET", "/v1/accuracy", nullptr, true, GetAccuracy},
    {"GET", "/v1/history", nullptr, true, GetHistory, "weeks,gpu"},
    {"POST", "/v1/advice/", "/submitted", false, PostSubmitted, "", "/v1/advice/{id}/submitted"},
    {"GET", "/v1/advice", nullptr, false, GetAdvice, "job,limit"},
    {"POST", "/v1/outcomes", nullptr, false, PostOutcome},
    {"GET", "/v1/waiting", nullptr, true, GetWaiting},
    {"GET", "/v1/usage", nullptr, true, GetUsage, "weeks"},
    {"GET", "/v1/users", nullptr, false, GetUsers, "weeks,account"},
    {"GET", "/v1/presets", nullptr, true, GetPresets},
    {"GET", "/v1/events", nullptr, true, GetEvents},
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

ApiResponse Dispatch(RequestContext& call) {
  const std::string_view target = call.request.target;
  const std::string_view path = PathOf(call.request);
  std::string allow;
  bool is_of_users = false;
  for (const Route& route : kRoutes) {
    if (!Matches(route, path, call.id)) continue;
    if (call.peer.anonymous && !route.anonymous) {
      is_of_users = true;
      continue;
    }
    call.route = route.name;
    if (call.request.method == route.method) {
      const Result<void> query = CheckQuery(target, route.parameters);
      return query ? route.answer(call) : Refuse(call, query.error());
    }
    allow = route.method;
  }
  if (allow.empty() && is_of_users) {
    const std::string& why = call.peer.why_anonymous;
    return Refuse(
        call, {ErrorCode::kNotFound,
               fmt::format("{} is for users who are known: {}", Shortened(path, kMaxQuotedBytes),
                           why.empty() ? "this caller gave no name" : why),
               ""});
  }
  if (allow.empty()) {
    return Refuse(call, {ErrorCode::kNotFound,
                         fmt::format("there is no {}; docs/api.md lists what can be asked",
                                     Shortened(path, kMaxQuotedBytes)),
                         ""});
  }
  ApiResponse response =
      Refuse(call, {ErrorCode::kBadInput,
                    fmt::format("{} wants {}, not {}", path, allow, call.request.method), ""});
  response.status = 405;
  response.allow = allow;
  return response;
}

// What can be asked of a daemon that stands by: how it is.
bool IsOfStandby(std::string_view path) { return path == "/healthz" || path == "/metrics"; }

ApiResponse StandsBy() {
  ApiResponse response = PlainError(
      503, "standby",
      "this daemon stands by: another gpuadvised holds the history and answers; ask that "
      "one (daemon: in client.yaml names several)");
  response.fields.emplace_back("Retry-After", "2");
  return response;
}

void CountAnswer(const RequestContext& call, const ApiResponse& response) {
  if (call.api.metrics == nullptr) return;
  call.api.metrics->Count(call.route, call.request.method, response, call.peer.anonymous);
}

}  // namespace

ApiResponse Handle(const ApiRequest& request, const Peer& peer, ApiState& api) {
  const auto state = api.cluster.state();
  WorkBudget budget(api.most_work.For(state ? state->snapshot.get() : nullptr), api.cpu_time);
  const WorkBudget::Share share(budget);
  RequestContext call{request, peer, api, state, {}, "", api.experiments.learned(), budget};
  call.freshness = api.cluster.FreshnessOf(state.get());
  try {
    const bool answers = !api.history.StandsBy() || IsOfStandby(PathOf(request));
    ApiResponse response = answers ? Dispatch(call) : StandsBy();
    response.cpu_time = budget.used();
    CountAnswer(call, response);
    return response;
  } catch (const std::exception& error) {
    ApiResponse response =
        Refuse(call, {ErrorCode::kInternal,
                      fmt::format("a bug while answering {}: {}",
                                  Shortened(request.target, kMaxQuotedBytes), error.what()),
                      ""});
    CountAnswer(call, response);
    return response;
  }
}

}  // namespace gpuadvise::daemon
