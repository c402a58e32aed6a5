#include "daemon/remote/remote_edge.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/dashboard/browser_guard.h"
#include "daemon/dashboard/public_edge.h"
#include "daemon/http/listening.h"
#include "daemon/http/plain_error.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kLookEvery{5};
// Events for who has shown a token or credential: then it is asked for again.
constexpr std::chrono::seconds kEventsLast{60};
// Of all connections, those for who has shown nobody.
constexpr int64_t kStrangersShare = 8;

size_t StrangersPlaces(const ListenTlsSettings& settings) {
  return static_cast<size_t>(std::max<int64_t>(settings.max_connections / kStrangersShare, 1));
}

ApiState ForStrangers(ApiState state, AnswerCache& answers) {
  state.for_each = Serial;
  state.shared = &answers;
  return state;
}

HttpLimits LimitsOf(HttpLimits limits, const ListenTlsSettings& settings) {
  const auto all = static_cast<size_t>(settings.max_connections);
  limits.max_connections = all - StrangersPlaces(settings);
  limits.max_events = all / 2;
  // Beside the turns on the Unix socket, which the same threads give: who asks on both has not all.
  limits.answers_per_user = std::max<size_t>(limits.answers_per_user / 2, 1);
  return limits;
}

}  // namespace

Result<std::unique_ptr<RemoteEdge>> RemoteEdge::Make(const ApiState& state,
                                                     asio::thread_pool& workers,
                                                     const ListenTlsSettings& settings,
                                                     const HttpLimits& limits) {
  Result<ServerCertificate> certificate =
      ServerCertificate::Load(settings.certificate, settings.key);
  if (!certificate) return tl::unexpected<Error>(std::move(certificate.error()));
  std::unique_ptr<Tokens> tokens;
  if (!settings.jwt_key.empty()) {
    Result<std::unique_ptr<Tokens>> made = Tokens::Make(settings.jwt_key);
    if (!made) return tl::unexpected<Error>(std::move(made.error()));
    tokens = std::move(*made);
  }
  Result<TcpListener> tcp = BindTcp(settings.address);
  if (!tcp) return tl::unexpected<Error>(std::move(tcp.error()));
  std::unique_ptr<RemoteEdge> edge(
      new RemoteEdge(state, workers, settings, std::move(*certificate), std::move(tokens), limits));
  edge->address_ = tcp->address;
  edge->Serve(std::move(tcp->descriptor));
  return edge;
}

RemoteEdge::RemoteEdge(const ApiState& state, asio::thread_pool& workers,
                       const ListenTlsSettings& settings, ServerCertificate certificate,
                       std::unique_ptr<Tokens> tokens, const HttpLimits& limits)
    : state_(state),
      strangers_state_(ForStrangers(state, answers_)),
      certificate_(std::move(certificate)),
      tokens_(std::move(tokens)),
      rules_{tokens_.get(), settings.munge, settings.munge_socket},
      stay_(asio::make_work_guard(io_)),
      look_(io_),
      server_(
          io_, {workers, workers}, LimitsOf(limits, settings),
          [this](const ApiRequest& request, const Peer& peer) { return Answer(request, peer); },
          Gate(settings)) {}

HttpGate RemoteEdge::Gate(const ListenTlsSettings& settings) {
  HttpGate gate{certificate_,
                [this](const ApiRequest& header, const Peer& peer) {
                  return IdentityOf(header, peer, rules_, state_.users, state_.clock.Now());
                },
                identity_workers_, strangers_};
  gate.max_strangers = StrangersPlaces(settings);
  gate.max_strangers_per_address = static_cast<size_t>(settings.max_connections_per_address);
  return gate;
}

RemoteEdge::~RemoteEdge() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
  identity_workers_.join();
  strangers_.join();
}

void RemoteEdge::Serve(Descriptor descriptor) {
  server_.Listen(std::move(descriptor), HttpServer::Callers::kAnonymous);
  LookAtFiles();
  thread_ = std::thread([this] { io_.run(); });
}

void RemoteEdge::LookAtFiles() {
  const Result<bool> renewed = certificate_.Refresh();
  const Result<void> key = tokens_ ? tokens_->Refresh() : Result<void>();
  const std::string problem = !renewed ? renewed.error().message : !key ? key.error().message : "";
  if (problem != problem_ && !problem.empty()) {
    spdlog::error("{}; until then what was read before is used", problem);
  }
  problem_ = problem;
  if (renewed.value_or(false)) spdlog::info("the certificate of listen_tls was read again");
  look_.expires_after(kLookEvery);
  look_.async_wait([this](boost::system::error_code error) {
    if (!error) LookAtFiles();
  });
}

ApiResponse RemoteEdge::Answer(const ApiRequest& request, const Peer& peer) {
  if (!SignedFor(request, peer)) {
    return NotBelieved(
        {ErrorCode::kBadInput, "the munge credential was made for another request", ""});
  }
  ApiResponse response;
  if (peer.anonymous) {
    thread_local const bool behind = (StepBack(), true);
    static_cast<void>(behind);
    // TLS has shown the browser that it is where it wanted to go: no other name leads here.
    response = AnswerOverTcp(request, peer, strangers_state_,
                             {HostWithoutPort(request.browser.host)}, compressed_);
  } else {
    response = Handle(request, peer, state_);
    response.events_last = kEventsLast;
  }
  if (peer.shown_uid) {
    response.fields.emplace_back("Gpuadvise-Uid", std::to_string(*peer.shown_uid));
  }
  return response;
}

void RemoteEdge::Drain(std::chrono::milliseconds deadline, std::function<void()> done) {
  asio::post(io_, [this, deadline, done = std::move(done)] {
    look_.cancel();
    server_.Drain(deadline, done);
  });
}

}  // namespace gpuadvise::daemon
