#include "daemon/remote/remote_edge.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/dashboard/browser_guard.h"
#include "daemon/dashboard/public_edge.h"
#include "daemon/http/frame.h"
#include "daemon/http/listening.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kLookEvery{5};
// Of one uid behind a relay, or one address: a portal's, too, where it has tokens of many.
constexpr size_t kMostQuestionsOfOne = 128;
constexpr size_t kMostWaitingOfOne = 256;
// Events for who has shown a token or credential: then it is asked for again.
constexpr std::chrono::seconds kEventsLast{60};

IdentityRules RulesFrom(const RemoteSettings& settings, const Tokens* tokens) {
  IdentityRules rules;
  rules.relays = {settings.relays.begin(), settings.relays.end()};
  rules.standbys = {settings.standbys.begin(), settings.standbys.end()};
  rules.tokens = tokens;
  rules.munge = settings.munge;
  rules.munge_socket = settings.munge_socket;
  return rules;
}

ApiState ForStrangers(ApiState state, AnswerCache& answers) {
  state.for_each = Serial;
  state.shared = &answers;
  return state;
}

HttpLimits LimitsOf(HttpLimits limits, const RemoteSettings& settings, const IdentityRules& rules) {
  limits.max_connections = static_cast<size_t>(settings.max_connections);
  limits.max_connections_per_user = static_cast<size_t>(settings.max_connections_per_address);
  limits.per_user_setting = "remote.max_connections_per_address";
  limits.max_events = limits.max_connections / 2;
  limits.whose = [&rules](const ApiRequest& request, const Peer& peer) {
    return CallerByRelay(request, peer, rules).value_or(peer.caller);
  };
  limits.is_strangers = [&rules](const ApiRequest& request, const Peer& peer) {
    return IsStrangers(request, peer, rules);
  };
  limits.max_questions_per_user = kMostQuestionsOfOne;
  limits.max_waiting_per_user = kMostWaitingOfOne;
  // Beside the turns on the Unix socket, which the same threads give: who asks on both has not all.
  limits.answers_per_user = std::max<size_t>(limits.answers_per_user / 2, 1);
  return limits;
}

}  // namespace

Result<std::unique_ptr<RemoteEdge>> RemoteEdge::Make(const ApiState& state,
                                                     asio::thread_pool& workers,
                                                     const RemoteSettings& settings,
                                                     HttpLimits limits) {
  Result<std::unique_ptr<TlsContext>> tls =
      TlsContext::Make({settings.ca, settings.certificate, settings.key, settings.revoked},
                       TlsContext::Side::kServer);
  if (!tls) return tl::unexpected<Error>(std::move(tls.error()));
  std::unique_ptr<Tokens> tokens;
  if (!settings.token_key.empty() || !settings.token_jwks.empty()) {
    Result<std::unique_ptr<Tokens>> made =
        Tokens::Make({settings.token_key, settings.token_jwks, settings.token_user_claim,
                      settings.token_issuer, settings.token_audience});
    if (!made) return tl::unexpected<Error>(std::move(made.error()));
    tokens = std::move(*made);
  }
  Result<TcpListener> tcp = BindTcp(settings.listen);
  if (!tcp) return tl::unexpected<Error>(std::move(tcp.error()));
  std::unique_ptr<RemoteEdge> edge(new RemoteEdge(state, workers, settings, std::move(*tls),
                                                  std::move(tokens), std::move(limits)));
  edge->address_ = tcp->address;
  edge->Serve(std::move(tcp->descriptor));
  return edge;
}

RemoteEdge::RemoteEdge(const ApiState& state, asio::thread_pool& workers,
                       const RemoteSettings& settings, std::unique_ptr<TlsContext> tls,
                       std::unique_ptr<Tokens> tokens, HttpLimits limits)
    : state_(state),
      strangers_state_(ForStrangers(state, answers_)),
      tls_(std::move(tls)),
      tokens_(std::move(tokens)),
      rules_(RulesFrom(settings, tokens_.get())),
      stay_(asio::make_work_guard(io_)),
      look_(io_),
      server_(
          io_, {workers, workers, &strangers_}, LimitsOf(std::move(limits), settings, rules_),
          [this](const ApiRequest& request, const Peer& peer) { return Answer(request, peer); }) {}

RemoteEdge::~RemoteEdge() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
  strangers_.join();
}

void RemoteEdge::Serve(Descriptor descriptor) {
  server_.ListenTls(std::move(descriptor), *tls_);
  LookAtFiles();
  thread_ = std::thread([this] { io_.run(); });
}

void RemoteEdge::LookAtFiles() {
  const Result<bool> renewed = tls_->Refresh();
  const Result<void> keys = tokens_ ? tokens_->Refresh() : Result<void>();
  const std::string problem = !renewed ? renewed.error().message
                              : !keys  ? keys.error().message
                                       : "";
  if (problem != problem_ && !problem.empty()) {
    spdlog::error("{}; until then what was read before is used", problem);
  }
  problem_ = problem;
  if (renewed.value_or(false)) {
    spdlog::info("the certificates of relays were read again");
    server_.DropTls();
  }
  look_.expires_after(kLookEvery);
  look_.async_wait([this](boost::system::error_code error) {
    if (!error) LookAtFiles();
  });
}

ApiResponse RemoteEdge::Answer(const ApiRequest& request, const Peer& peer) {
  const Result<Peer> who = IdentityOf(request, peer, rules_, state_.users, state_.clock.Now());
  if (!who) {
    const bool unknown = who.error().code == ErrorCode::kBadInput;
    ApiResponse refusal = PlainError(unknown ? 401 : 503, unknown ? "unauthorized" : "unavailable",
                                     who.error().message);
    if (unknown) refusal.fields.emplace_back("WWW-Authenticate", "Bearer");
    return refusal;
  }
  if (!who->anonymous) {
    ApiResponse response = Handle(request, *who, state_);
    if (!request.authorization.empty()) response.events_last = kEventsLast;
    return response;
  }
  if (IsStrangers(request, peer, rules_)) {
    thread_local const bool behind = (StepBack(), true);
    static_cast<void>(behind);
  }
  // TLS has shown the browser that it is where it wanted to go: no other name leads here.
  return AnswerOverTcp(request, *who, strangers_state_, {HostWithoutPort(request.browser.host)});
}

void RemoteEdge::Drain(std::chrono::milliseconds deadline, std::function<void()> done) {
  asio::post(io_, [this, deadline, done = std::move(done)] {
    look_.cancel();
    server_.Drain(deadline, done);
  });
}

}  // namespace gpuadvise::daemon
