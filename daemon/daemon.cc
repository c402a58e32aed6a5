#include "daemon/daemon.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/version.h"
#include "common/base/words.h"
#include "common/process/name_service.h"
#include "common/slurm/accounted_job.h"
#include "daemon/api/experiment_api.h"
#include "daemon/base/descriptors.h"
#include "daemon/base/logging.h"
#include "daemon/base/parallel_for.h"
#include "daemon/base/system.h"
#include "daemon/collector/sources.h"
#include "daemon/dashboard/page.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds kDrainTime{10};
constexpr std::chrono::seconds kPublicDrainTime{2};
constexpr std::chrono::seconds kEventCheck{5};

// The largest body over TCP: a training file with what it would name.
constexpr size_t kMaxPublicBody = 64u << 10;
// Everybody may connect; the kernel says who is the proxy.
constexpr uint32_t kProxySocketMode = 0666;
constexpr size_t kMaxPublicQuestions = 64;
constexpr size_t kMaxPublicQuestionsOfOne = 8;
constexpr size_t kMaxPublicWaiting = 512;
constexpr size_t kMaxPublicWaitingOfOne = 128;

// Forecasts for GET /metrics may take so many times the CPU time of an answer: nobody waits for
// them.
constexpr int64_t kMetricsWork = 12;

// The word that tells this run's advice ids from those of an earlier one.
std::string RunWord() { return fmt::format("{:06x}", std::random_device()() & 0xffffff); }

unsigned AnsweringThreads() { return std::clamp(std::thread::hardware_concurrency(), 2u, 8u); }

// Of connections for their events: the others are for questions.
size_t HalfOf(size_t connections) { return std::max<size_t>(connections / 2, 1); }

int64_t InSeconds(std::chrono::milliseconds duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

HttpLimits LimitsFrom(const Settings& settings) {
  HttpLimits limits;
  limits.max_connections = static_cast<size_t>(settings.max_connections);
  limits.max_connections_per_user = static_cast<size_t>(
      std::clamp<int64_t>(settings.max_connections / 2, 1, settings.max_connections_per_user));
  limits.request_timeout = settings.request_timeout;
  limits.caller_of = [subordinate = SubordinateUids::OfThisMachine()](int64_t uid) {
    return subordinate.OwnerOf(uid);
  };
  limits.answers_at_once = AnsweringThreads();
  limits.answers_per_user = std::max(AnsweringThreads() / 2, 1u);
  limits.max_events_per_user = HalfOf(limits.max_connections_per_user);
  limits.max_events = HalfOf(limits.max_connections);
  return limits;
}

PublicEdgeOptions PublicOptionsFrom(const Settings& settings) {
  PublicEdgeOptions options;
  const int64_t asked = settings.listen_max_connections;
  const int64_t wanted = asked + settings.max_connections + kOtherDescriptors;
  const int64_t open = RaiseDescriptorLimit(wanted);
  const int64_t possible = PublicConnections(asked, settings.max_connections, open);
  if (possible < asked) {
    spdlog::warn(
        "this process may open only {} files: {} taken over TCP, of listen_max_connections {}, and "
        "each dashboard needs two or three; raise LimitNOFILE in the unit, or ulimit -Hn, to {}",
        open, possible == 1 ? "one connection is" : fmt::format("{} connections are", possible),
        asked, wanted);
  }
  options.limits.max_connections = static_cast<size_t>(possible);
  options.limits.request_timeout = settings.request_timeout;
  options.limits.max_body_bytes = kMaxPublicBody;
  options.limits.max_connections_per_user =
      static_cast<size_t>(std::min<int64_t>(possible, settings.listen_max_connections_per_address));
  options.limits.per_user_setting = "listen_max_connections_per_address";
  options.limits.max_events_per_user = HalfOf(options.limits.max_connections_per_user);
  options.limits.max_events = HalfOf(options.limits.max_connections);
  options.limits.answers_at_once = 1;  // each of its pools has one thread
  options.limits.answers_per_user = 1;
  options.limits.max_questions = kMaxPublicQuestions;
  options.limits.max_questions_per_user = kMaxPublicQuestionsOfOne;
  options.limits.max_waiting = kMaxPublicWaiting;
  // All that comes through a reverse proxy is one address: then nothing is bounded by address.
  const bool by_address =
      settings.listen_max_connections_per_address < settings.listen_max_connections;
  options.limits.max_waiting_per_user = by_address ? kMaxPublicWaitingOfOne : kMaxPublicWaiting;
  if (!by_address) options.limits.max_questions_per_user = kMaxPublicQuestions;
  options.hosts = settings.listen_hosts;
  if (const TrustedProxySettings& proxy = settings.trusted_proxy; !proxy.header.empty()) {
    options.limits.proxy = {proxy.header, ParseIpAddress(proxy.address), UidOfUser(proxy.user)};
    if (ProxySocket(proxy).empty()) options.limits.proxy->uid.reset();
  }
  return options;
}

// Simulations and recordings.
bool HasOwnTime(const std::string& source) {
  return source == "sim" || source.rfind("replay:", 0) == 0;
}

// systemd's unit keeps public addresses away: Slurm's own message does not say so.
std::string WithUnitHint(std::string cause, bool is_first) {
  if (!is_first || std::getenv("INVOCATION_ID") == nullptr) return cause;
  return std::move(cause) +
         "; where slurmctld has a public address the unit must allow it (listen.conf)";
}

// What callers are told of: "" where nobody would ever look through it.
std::string OutcomesDirOf(const Settings& settings) {
  const bool looked_through =
      !HasOwnTime(settings.source) && settings.accounting_interval.count() > 0;
  return looked_through ? settings.outcomes_dir : "";
}

HistoryWriter::OpenHistory OpenerFor(const Settings& settings) {
  HistoryBounds bounds;
  bounds.bytes = settings.history_max_bytes.count;
  return [folder = settings.state_dir, url = settings.history, bounds] {
    return url.empty() ? History::Open(folder, SystemClock().Now(), bounds)
                       : ReadPostgresUrl(url).and_then([&](const PostgresPlace& place) {
                           return History::OpenPostgres(place, bounds);
                         });
  };
}

// Jobs are looked for in accounting twice before a claim to one is given up.
int64_t SettleSecondsFor(const Settings& settings) {
  return std::max(ExperimentLog::kSettleSeconds, 2 * InSeconds(settings.accounting_interval));
}

}  // namespace

Result<Daemon::Parts> Daemon::PartsFor(const Settings& settings) {
  Result<std::shared_ptr<const Catalogues>> catalogues = LoadCatalogues(settings);
  if (!catalogues) return tl::unexpected<Error>(std::move(catalogues.error()));
  Result<std::string> collector = FindCollector(settings.collector, OwnPath());
  if (!collector) return tl::unexpected<Error>(std::move(collector.error()));
  return Parts{.catalogues = std::move(*catalogues),
               .plan = PlanFor(settings, *collector),
               .accounting = AccountingPlanFor(settings, *collector)};
}

// A daemon without a history answers all the same.
void Daemon::OpenHistory(const Settings& settings, Parts& parts) {
  if (HasOwnTime(settings.source)) {
    parts.no_history = "the cluster is simulated";
    return;
  }
  Result<std::unique_ptr<History>> history = OpenerFor(settings)();
  if (!history) {
    parts.no_history = history.error().message;
    spdlog::error("no history is kept: {}", parts.no_history);
    return;
  }
  if (*history == nullptr) {
    spdlog::info("another gpuadvised holds the history: this one stands by");
    parts.stands_by = true;
    return;
  }
  if (!(*history)->set_aside().empty()) spdlog::error("{}", (*history)->set_aside());
  parts.history = std::move(*history);
}

Result<std::unique_ptr<Daemon>> Daemon::Make(const CommandLineSettings& command_line,
                                             LoadedSettings loaded) {
  for (const std::string& open : SecretsForAll(loaded)) spdlog::warn("{}", open);
  Result<Parts> parts = PartsFor(loaded.settings);
  if (!parts) return tl::unexpected<Error>(std::move(parts.error()));
  OpenHistory(loaded.settings, *parts);
  std::unique_ptr<Daemon> daemon(new Daemon(command_line, std::move(loaded), std::move(*parts)));
  Result<void> bound = daemon->BindSockets();
  if (!bound) return tl::unexpected<Error>(std::move(bound.error()));
  return daemon;
}

Daemon::Daemon(const CommandLineSettings& command_line, LoadedSettings loaded, Parts parts)
    : command_line_(command_line),
      loaded_(std::move(loaded)),
      answering_(AnsweringThreads()),
      helping_(AnsweringThreads() - 1),
      cluster_(clock_, parts.catalogues, InSeconds(loaded_.settings.stale_after)),
      history_(std::move(parts.history), std::move(parts.no_history), clock_,
               InSeconds(loaded_.settings.history_retention), OnHistory()),
      advice_(RunWord()),
      experiments_(history_, SettleSecondsFor(loaded_.settings)),
      usage_(history_),
      outcomes_(loaded_.settings.outcomes_dir,
                [this](Outcome outcome, int64_t uid) {
                  const auto state = cluster_.state();
                  const Submitter owner{uid, users_.NameOf(uid), "", ""};
                  return TakeOutcome(std::move(outcome), owner,
                                     state ? state->snapshot.get() : nullptr, experiments_,
                                     history_)
                      .has_value();
                }),
      users_(clock_),
      events_(cluster_),
      metrics_({cluster_, history_, clock_,
                [most = AnswerCost::Within(loaded_.settings.answer_cpu_time)](
                    const Snapshot* snapshot) { return kMetricsWork * most.For(snapshot); },
                [this] { return collector_.starts(); }}),
      api_(MakeApi()),
      sink_(cluster_),
      plan_(parts.plan),
      collector_(
          io_, intake_, sink_,
          [this](std::string cause) {
            cluster_.SetCause(WithUnitHint(std::move(cause), cluster_.state() == nullptr));
            asio::post(intake_, [this] { events_.Publish(); });
          },
          [this](std::string causes) { cluster_.SetPassedOver(std::move(causes)); }),
      accounting_(
          parts.accounting, history_, clock_,
          [this] { cluster_.Restore([this] { return PastFromHistory(); }); },
          [this] {
            outcomes_.PickUp();
            experiments_.CatchUp();
          }),
      server_(io_, {answering_, answering_}, LimitsFrom(loaded_.settings),
              [this](const ApiRequest& request, const Peer& peer) {
                return Handle(request, peer, api_);
              }),
      signals_(io_, SIGTERM, SIGINT, SIGHUP),
      watchdog_(io_),
      event_timer_(io_),
      stands_by_(parts.stands_by) {}

// What the handlers use; all of it is made before api_.
ApiState Daemon::MakeApi() {
  return {.cluster = cluster_,
          .history = history_,
          .advice = advice_,
          .experiments = experiments_,
          .users = users_,
          .clock = clock_,
          .outcomes_dir = OutcomesDirOf(loaded_.settings),
          .for_each = ParallelFor(helping_, AnsweringThreads()),
          .usage = &usage_,
          .events = &events_,
          .most_work = AnswerCost::Within(loaded_.settings.answer_cpu_time),
          .host = HostName(),
          .metrics = &metrics_,
          .history_in_server = !loaded_.settings.history.empty(),
          .accounting_problem = [this] { return WithoutAccounting(accounting_.problem()); },
          .poll_soon = [this] { asio::post(io_, [this] { collector_.PollSoon(); }); },
          .node_past = &node_past_};
}

Daemon::~Daemon() {
  // Workers may still hold a request or a batch; nothing they use goes before they do.
  answering_.join();
  helping_.join();
  intake_.join();
}

Result<void> Daemon::BindSockets() {
  const Settings& settings = loaded_.settings;
  Result<UnixListener> listener =
      UnixListener::Bind(settings.socket, settings.socket_mode, settings.socket_group);
  if (!listener) return tl::unexpected<Error>(std::move(listener.error()));
  unix_.emplace(std::move(*listener));
  socket_path_ = settings.socket;
  server_.Listen(unix_->TakeDescriptor(), HttpServer::Callers::kFromKernel);
  const bool has_proxy_socket = !ProxySocket(settings.trusted_proxy).empty();
  Result<void> bound = settings.listen.empty() && !has_proxy_socket ? Result<void>() : BindPublic();
  return bound && !settings.listen_tls.address.empty() ? BindRemote() : bound;
}

Result<void> Daemon::BindRemote() {
  const ListenTlsSettings& listen_tls = loaded_.settings.listen_tls;
  RaiseDescriptorLimit(listen_tls.max_connections + loaded_.settings.max_connections +
                       loaded_.settings.listen_max_connections + kOtherDescriptors);
  Result<std::unique_ptr<RemoteEdge>> made =
      RemoteEdge::Make(api_, answering_, listen_tls, LimitsFrom(loaded_.settings));
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  remote_ = std::move(*made);
  spdlog::info("callers from other hosts are answered at https://{}/", remote_->address());
  return {};
}

Result<void> Daemon::BindPublic() {
  const Settings& settings = loaded_.settings;
  public_.emplace(api_, PublicOptionsFrom(settings));
  if (const std::string path = ProxySocket(settings.trusted_proxy); !path.empty()) {
    const std::string& user = settings.trusted_proxy.user;
    if (!UidOfUser(user)) {
      return BadInput(fmt::format("trusted_proxy.user is {}, and this machine knows no such user; "
                                  "name the account that the login proxy runs as",
                                  Quoted(Shortened(user, kMaxQuotedBytes))),
                      "/trusted_proxy/user");
    }
    Result<UnixListener> proxy = UnixListener::Bind(path, kProxySocketMode, "");
    if (!proxy) return tl::unexpected<Error>(std::move(proxy.error()));
    proxy_.emplace(std::move(*proxy));
    public_->ServeProxy(proxy_->TakeDescriptor());
    spdlog::info("the login proxy of {} is answered on {}", user, path);
  }
  if (!settings.listen.empty()) {
    Result<TcpListener> tcp = BindTcp(settings.listen);
    if (!tcp) return tl::unexpected<Error>(std::move(tcp.error()));
    public_->Serve(std::move(tcp->descriptor));
    spdlog::info("{} is at http://{}/", HasPage() ? "the dashboard" : "the API", tcp->address);
  }
  if (!HasPage()) {
    spdlog::warn("this build has no dashboard: npm was missing or could not install its packages");
  }
  return {};
}

// Called from threads of history_.
HistoryEvents Daemon::OnHistory() {
  return {.opened =
              [this] {
                asio::post(intake_, [this] {
                  experiments_.Load();
                  LoadHistory();
                });
                asio::post(io_, [this] { Answer(); });
              },
          .alone =
              [this] {
                spdlog::warn("nobody can say who holds the history: this daemon answers without");
                asio::post(io_, [this] { Answer(); });
              },
          .taken =
              [this] {
                asio::post(io_, [this] {
                  if (stopping_) return;
                  spdlog::warn("another gpuadvised has taken over: this one stands by");
                  is_taken_ = true;
                  Stop();
                });
              }};
}

// From now on. What is before it in intake_ is done before the first snapshot is taken in.
void Daemon::Answer() {
  if (stopping_ || std::exchange(answers_, true)) return;
  collector_.Run(plan_);
}

bool Daemon::Run() {
  WatchSignals();
  cluster_.SetOnJobsChanged([this](std::vector<PastJob> jobs, const Snapshot& snapshot) {
    experiments_.OnSnapshot(snapshot, clock_.Now());
    node_past_.See(snapshot);
    metrics_.OnJobsChanged(jobs, snapshot);
    if (jobs.empty()) return;
    experiments_.OnJobsChanged(jobs);
    events_.OnJobsChanged(jobs);
    usage_.OnJobsChanged(jobs, snapshot);
    history_.Put(std::move(jobs));
  });
  cluster_.SetOnNewState([this] {
    events_.Publish();
    metrics_.OnNewState();
    // What jobs reported may be much to read: whoever asks first does not wait for it.
    if (!log_asked_for_.exchange(true)) asio::post(intake_, [this] { experiments_.Load(); });
  });
  PublishRegularly();
  if (!loaded_.settings.outcomes_dir.empty() && api_.outcomes_dir.empty()) {
    spdlog::warn(
        "outcomes_dir is not used: it is looked through with accounting, which needs a "
        "history and an accounting_interval over 0s");
  }
  if (!HasOwnTime(loaded_.settings.source) && !history_.state().info) {
    history_.KeepTrying(OpenerFor(loaded_.settings),
                        loaded_.settings.history.empty() ? kOpenFileAgain : kOpenServerAgain,
                        stands_by_);
  }
  asio::post(intake_,
             [this] { LoadHistory(); });  // before the first snapshot, which goes the same way
  if (!stands_by_) Answer();
  watchdog_.Start();
  spdlog::info("gpuadvised {} answers on {} from {}", kVersion, loaded_.settings.socket,
               loaded_.settings.source);
  NotifyReady();
  io_.run();
  return is_taken_;
}

// Once there is a history.
void Daemon::LoadHistory() {
  if (!history_.state().info || std::exchange(remembers_, true)) return;
  cluster_.Restore([this] { return PastFromHistory(); });
  accounting_.Run();
}

ForecastHistory Daemon::PastFromHistory() {
  const auto begun = std::chrono::steady_clock::now();
  std::vector<PastJob> jobs = history_.Load();
  const size_t count = jobs.size();
  ForecastHistory past = BuildHistory(std::move(jobs), clock_.Now());
  usage_.Restore(past, clock_.Now());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  spdlog::info("learned from {} of the history in {:.1f} s",
               Plural(static_cast<int64_t>(count), "job"), took.count());
  return past;
}

void Daemon::WatchSignals() {
  signals_.async_wait([this](error_code error, int number) {
    if (error) return;
    if (number == SIGHUP) {
      Reload();
    } else {
      Stop();
    }
    WatchSignals();
  });
}

// A snapshot that has become old is news that nothing else brings; nor does the loss of a socket.
void Daemon::PublishRegularly() {
  asio::post(intake_, [this] { events_.Publish(); });
  RestoreSocket();
  event_timer_.expires_after(kEventCheck);
  event_timer_.async_wait([this](error_code error) {
    if (!error) PublishRegularly();
  });
}

// Where somebody has removed the socket's file nobody reaches it any more: it is made again.
// Connections that are open stay so.
void Daemon::RestoreSocket() {
  if (stopping_ || (unix_ && !unix_->IsGone())) return;
  unix_.reset();  // before there is a new file, which it would take for its own
  Result<UnixListener> listener =
      UnixListener::Bind(socket_path_, loaded_.settings.socket_mode, loaded_.settings.socket_group);
  if (!listener) {
    if (listener.error().message != socket_problem_) {
      spdlog::error("the socket's file was removed: {}", listener.error().message);
    }
    socket_problem_ = std::move(listener.error().message);
    return;
  }
  socket_problem_.clear();
  spdlog::warn("{} was removed; it is made again", socket_path_);
  unix_.emplace(std::move(*listener));
  server_.Listen(unix_->TakeDescriptor(), HttpServer::Callers::kFromKernel);
}

void Daemon::Reload() {
  if (stopping_) return;
  NotifyReloading();
  Result<LoadedSettings> loaded = LoadSettings(command_line_);
  Result<Parts> parts =
      loaded ? PartsFor(loaded->settings) : Result<Parts>(tl::unexpected<Error>(loaded.error()));
  if (parts) {
    Apply(std::move(*loaded), *parts);
  } else {
    spdlog::error("{}; the settings stay as they were", parts.error().message);
  }
  NotifyReady();
}

void Daemon::Apply(LoadedSettings loaded, const Parts& parts) {
  std::vector<std::string> waiting;
  for (const std::string& key : ChangedKeys(loaded_.settings, loaded.settings)) {
    if (NeedsRestart(key)) waiting.push_back(key);
  }
  loaded_ = std::move(loaded);
  for (const std::string& open : SecretsForAll(loaded_)) spdlog::warn("{}", open);
  SetLogLevel(loaded_.settings.log_level);
  cluster_.SetStaleAfter(InSeconds(loaded_.settings.stale_after));
  asio::post(intake_,
             [this, catalogues = parts.catalogues] { cluster_.SetCatalogues(catalogues); });
  if (!(parts.plan == plan_)) {
    plan_ = parts.plan;
    if (answers_) collector_.Run(plan_);
  }
  spdlog::info("settings read again from {}", loaded_.file.empty() ? "the defaults" : loaded_.file);
  if (!waiting.empty()) {
    spdlog::warn("changed, but read at the start only: {}; restart gpuadvised",
                 fmt::join(waiting, ", "));
  }
}

void Daemon::Stop() {
  if (stopping_) {
    io_.stop();  // asked twice: at once
    return;
  }
  stopping_ = true;
  spdlog::info("stopping");
  if (!is_taken_) NotifyStopping();
  collector_.Stop();
  sink_.Stop();
  const auto left = std::make_shared<int>(1 + (public_ ? 1 : 0) + (remote_ ? 1 : 0));
  const auto drained = [this, left] {
    if (--*left == 0) io_.stop();
  };
  server_.Drain(kDrainTime, drained);
  const auto drained_there = [this, drained] { asio::post(io_, drained); };
  if (public_) public_->Drain(kPublicDrainTime, drained_there);
  if (remote_) remote_->Drain(kPublicDrainTime, drained_there);
}

}  // namespace gpuadvise::daemon
