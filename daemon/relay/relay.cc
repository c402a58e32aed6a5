#include "daemon/relay/relay.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/words.h"
#include "daemon/base/descriptors.h"
#include "daemon/base/system.h"
#include "daemon/http/frame.h"
#include "daemon/tls/certificates.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using nlohmann::json;
using std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kFileCheck{5};
constexpr std::chrono::seconds kRelayDrain{2};
constexpr int64_t kWarnSeconds = 14 * 24 * 3600;

// Requests on their way at once; each has a connection of its own.
constexpr size_t kMostAtOnce = 64;
constexpr size_t kMostOfOne = 16;

HttpLimits RelayLimits(const Settings& settings) {
  HttpLimits limits;
  limits.max_connections = static_cast<size_t>(settings.max_connections);
  limits.max_connections_per_user = static_cast<size_t>(
      std::clamp<int64_t>(settings.max_connections / 2, 1, settings.max_connections_per_user));
  limits.request_timeout = settings.request_timeout;
  limits.answers_at_once = kMostAtOnce;
  limits.answers_per_user = kMostOfOne;
  limits.max_events = std::max<size_t>(limits.max_connections / 2, 1);
  limits.max_events_per_user = std::max<size_t>(limits.max_connections_per_user / 2, 1);
  limits.caller_of = [subordinate = SubordinateUids::OfThisMachine()](int64_t uid) {
    return subordinate.OwnerOf(uid);
  };
  return limits;
}

// "https://a:6829,https://b:6829".
Result<std::vector<WebAddress>> AddressesOf(const std::string& text) {
  std::vector<WebAddress> addresses;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    Result<WebAddress> address = ParseWebAddress(part);
    if (!address) return BadInput("relay.url: " + address.error().message, "/relay/url");
    addresses.push_back(std::move(*address));
  }
  return addresses;
}

std::string OwnHostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

UnixSeconds ExpiryOf(const std::string& file) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const Result<CertificateFacts> facts = FactsOf(text);
  return facts ? facts->expires_at : 0;
}

}  // namespace

Result<std::unique_ptr<Relay>> Relay::Make(const Settings& settings) {
  Result<std::vector<WebAddress>> addresses = AddressesOf(settings.relay.url);
  if (!addresses) return tl::unexpected<Error>(std::move(addresses.error()));
  Result<std::unique_ptr<TlsContext>> tls =
      TlsContext::Make({settings.relay.ca, settings.relay.certificate, settings.relay.key, ""},
                       TlsContext::Side::kClient);
  if (!tls) return tl::unexpected<Error>(std::move(tls.error()));
  Result<UnixListener> listener =
      UnixListener::Bind(settings.socket, settings.socket_mode, settings.socket_group);
  if (!listener) return tl::unexpected<Error>(std::move(listener.error()));
  RaiseDescriptorLimit(2 * settings.max_connections + kOtherDescriptors);
  return std::unique_ptr<Relay>(
      new Relay(settings, std::move(*addresses), std::move(*tls), std::move(*listener)));
}

Relay::Relay(const Settings& settings, std::vector<WebAddress> addresses,
             std::unique_ptr<TlsContext> tls, UnixListener listener)
    : settings_(settings),
      tls_(std::move(tls)),
      listener_(std::move(listener)),
      link_(io_, std::move(addresses), *tls_, OwnHostName()),
      server_(io_, {none_, none_}, RelayLimits(settings_), nullptr),
      signals_(io_, SIGTERM, SIGINT, SIGHUP),
      watchdog_(io_),
      look_(io_) {
  server_.Forward(
      [this](const ApiRequest& request, const Peer& peer) { return Answer(request, peer); });
  server_.Listen(listener_->TakeDescriptor(), HttpServer::Callers::kFromKernel);
}

Relay::~Relay() { none_.join(); }

void Relay::Run() {
  spdlog::info("answering on {} for {}", settings_.socket, link_.address().Text());
  WatchSignals();
  SayExpiry();
  LookAtFiles();
  watchdog_.Start();
  NotifyReady();
  io_.run();
}

asio::awaitable<ApiResponse> Relay::Answer(const ApiRequest& request, const Peer& peer) {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  if (path == "/v1/relay") co_return Health();
  if (request.method != "GET" && request.method != "POST") {
    co_return PlainError(405, "bad_input", "only GET and POST are passed on");
  }
  ApiResponse response = co_await link_.Ask(request, peer);
  if (link_.problem() != link_problem_) {
    link_problem_ = link_.problem();
    if (link_problem_.empty()) {
      spdlog::info("{} answers again", link_.address().Text());
    } else {
      spdlog::warn("{} cannot be asked: {}", link_.address().Text(), link_problem_);
    }
  }
  co_return response;
}

ApiResponse Relay::Health() const {
  json age;
  if (const auto at = link_.answered_at()) {
    age = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - *at).count();
  }
  ApiResponse response;
  response.body = Text({{"role", "relay"},
                        {"url", link_.address().Text()},
                        {"last_answer_age_seconds", std::move(age)},
                        {"problem", link_.problem().empty() ? json() : json(link_.problem())},
                        {"certificate_expires_at", expires_at_}});
  return response;
}

void Relay::SayExpiry() {
  expires_at_ = ExpiryOf(settings_.relay.certificate);
  const auto left = expires_at_ - static_cast<UnixSeconds>(std::time(nullptr));
  if (expires_at_ == 0 || left > kWarnSeconds) return;
  spdlog::warn("{} {}; `gpuadvised relay-certs` on the daemon's host renews it",
               settings_.relay.certificate,
               left > 0 ? "expires in " + DurationInWords(static_cast<double>(left))
                        : "expired " + DurationInWords(static_cast<double>(-left)) + " ago");
}

void Relay::LookAtFiles() {
  const Result<bool> renewed = tls_->Refresh();
  const std::string problem = renewed ? "" : renewed.error().message;
  if (problem != file_problem_ && !problem.empty()) {
    spdlog::error("{}; until then what was read before is used", problem);
  }
  file_problem_ = problem;
  if (renewed.value_or(false)) {
    spdlog::info("the certificates were read again");
    link_.Drop();
    SayExpiry();
  }
  RestoreSocket();
  look_.expires_after(kFileCheck);
  look_.async_wait([this](error_code error) {
    if (!error) LookAtFiles();
  });
}

// Where somebody has removed the socket's file nobody reaches it any more: it is made again.
void Relay::RestoreSocket() {
  if (stopping_ || (listener_ && !listener_->IsGone())) return;
  listener_.reset();  // before there is a new file, which it would take for its own
  Result<UnixListener> made =
      UnixListener::Bind(settings_.socket, settings_.socket_mode, settings_.socket_group);
  if (!made) {
    if (made.error().message != socket_problem_) {
      spdlog::error("the socket's file was removed: {}", made.error().message);
    }
    socket_problem_ = std::move(made.error().message);
    return;
  }
  socket_problem_.clear();
  spdlog::warn("{} was removed; it is made again", settings_.socket);
  listener_.emplace(std::move(*made));
  server_.Listen(listener_->TakeDescriptor(), HttpServer::Callers::kFromKernel);
}

void Relay::WatchSignals() {
  signals_.async_wait([this](error_code error, int number) {
    if (error) return;
    if (number == SIGHUP) {
      spdlog::info("certificates are read again by themselves; other settings at the start only");
    } else {
      stopping_ = true;
      NotifyStopping();
      server_.Drain(kRelayDrain, [this] { io_.stop(); });
    }
    WatchSignals();
  });
}

}  // namespace gpuadvise::daemon
