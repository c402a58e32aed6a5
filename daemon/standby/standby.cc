#include "daemon/standby/standby.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/base/words.h"
#include "daemon/base/system.h"
#include "daemon/http/frame.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using nlohmann::json;
using std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kStandbyDrain{2};
constexpr std::chrono::milliseconds kCopyLook{1'000};  // whether a copy is due

// `path` as the host of a URL, where "/" stands for something else.
std::string AsHost(std::string_view path) {
  std::string host;
  for (const char c : path) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '-' || c == '_';
    host += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return host;
}

std::string LocationOf(const std::string& first) {
  return first.starts_with('/') ? "http+unix://" + AsHost(first) : first;
}

}  // namespace

Ticker::Ticker(std::chrono::milliseconds interval, std::function<bool()> step)
    : thread_([this, interval, step = std::move(step)] {
        while (step()) {
          std::unique_lock lock(mutex_);
          if (ends_.wait_for(lock, interval, [this] { return ending_; })) return;
        }
      }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

FirstWatch::FirstWatch(const Settings& settings, std::function<void()> is_back)
    : follower_(settings), is_back_(std::move(is_back)) {
  ticker_.emplace(settings.standby.check_interval, [this] {
    if (follower_.Check()) {
      checks_.Seen();
    } else {
      checks_.Missed();
    }
    if (!checks_.IsBack()) return true;
    is_back_();
    return false;
  });
}

Result<std::unique_ptr<Standby>> Standby::Make(const Settings& settings) {
  if (settings.standby.first == settings.socket) {
    return BadInput(fmt::format("standby and socket are both {}: this daemon would stand by for "
                                "itself; give it a socket of its own",
                                settings.socket),
                    "/standby");
  }
  Result<UnixListener> listener =
      UnixListener::Bind(settings.socket, settings.socket_mode, settings.socket_group);
  if (!listener) return tl::unexpected<Error>(std::move(listener.error()));
  return std::unique_ptr<Standby>(new Standby(settings, std::move(*listener)));
}

Standby::Standby(const Settings& settings, UnixListener listener)
    : settings_(settings),
      follower_(settings_),
      listener_(std::move(listener)),
      server_(io_, {answering_, answering_}, HttpLimits(),
              [this](const ApiRequest& request, const Peer&) { return Answer(request); }),
      signals_(io_, SIGTERM, SIGINT, SIGHUP),
      watchdog_(io_) {
  server_.Listen(listener_.TakeDescriptor(), HttpServer::Callers::kFromKernel);
}

Standby::~Standby() {
  ticker_.reset();
  copier_.reset();
  answering_.join();
}

Standby::End Standby::Run() {
  spdlog::info("standing by for the first daemon at {}", settings_.standby.first);
  WatchSignals();
  watchdog_.Start();
  ticker_.emplace(settings_.standby.check_interval, [this] { return Step(); });
  copier_.emplace(std::min(settings_.standby.check_interval, kCopyLook), [this] {
    Follow();
    return true;
  });
  NotifyReady();
  io_.run();
  ticker_.reset();
  copier_.reset();  // a copy that is being put in its place is there then
  const std::lock_guard lock(mutex_);
  return end_;
}

bool Standby::Step() {
  const Result<void> there = follower_.Check();
  {
    const std::lock_guard lock(mutex_);
    first_answers_ = there.has_value();
  }
  if (there) {
    checks_.Seen();
    return true;
  }
  checks_.Missed();
  Say(there.error().message);
  if (!checks_.IsGone()) return true;
  spdlog::warn("the first daemon has missed {} checks: this one takes over", checks_.missed());
  {
    const std::lock_guard lock(mutex_);
    end_ = End::kTakesOver;
  }
  asio::post(io_, [this] { server_.Drain(kStandbyDrain, [this] { io_.stop(); }); });
  return false;
}

// Rows are given back before a copy takes their place.
void Standby::Follow() {
  {
    const std::lock_guard lock(mutex_);
    if (!first_answers_) return;
  }
  const bool is_shared = !settings_.history.empty();
  if (!is_shared && !owes_nothing_) {
    const Result<int64_t> given = follower_.GiveBack();
    if (!given) return Say(given.error().message);
    if (*given > 0) spdlog::info("{} given back to the first daemon", Plural(*given, "row"));
    owes_nothing_ = true;  // while this stands by it saves nothing
  }
  const auto now = steady_clock::now();
  if (tried_ && now - *tried_ < settings_.standby.copy_interval) return;
  tried_ = now;
  if (is_shared) {
    const Result<void> shared = follower_.CheckShared();
    return Say(shared ? "" : shared.error().message);
  }
  const Result<int64_t> bytes = follower_.TakeCopy();
  if (!bytes) return Say(bytes.error().message);
  spdlog::debug("a copy of the history, {:.1f} MB", static_cast<double>(*bytes) / 1e6);
  Say("");
  const std::lock_guard lock(mutex_);
  copied_ = now;  // what it holds is of then
}

void Standby::Say(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (!problem.empty() && problem != problem_) spdlog::warn("{}", problem);
  problem_ = problem;
}

ApiResponse Standby::Health() const {
  const std::lock_guard lock(mutex_);
  json age;
  if (copied_) {
    age = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - *copied_).count();
  }
  ApiResponse response;
  response.body = Text({{"status", "standby"},
                        {"history", settings_.history.empty() ? "copied" : "shared"},
                        {"first_answers", first_answers_},
                        {"copy_age_seconds", std::move(age)},
                        {"problem", problem_.empty() ? json() : json(problem_)}});
  return response;
}

ApiResponse Standby::Answer(const ApiRequest& request) const {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  if (path == "/healthz") return Health();
  if (path == "/v1/standby") {
    ApiResponse response;
    response.body = Text({{"role", "standby"}});
    return response;
  }
  const bool reads = request.method == "GET";  // with 303 a POST would become a GET (RFC 9110)
  ApiResponse response =
      PlainError(reads ? 303 : 307, "unavailable",
                 "this daemon stands by for another one; ask at " + settings_.standby.first);
  response.fields.emplace_back("Location", LocationOf(settings_.standby.first) + request.target);
  return response;
}

void Standby::WatchSignals() {
  signals_.async_wait([this](error_code error, int number) {
    if (error) return;
    if (number != SIGHUP) {  // settings are read again where they are used: in its place
      NotifyStopping();
      server_.Drain(kStandbyDrain, [this] { io_.stop(); });
    }
    WatchSignals();
  });
}

}  // namespace gpuadvise::daemon
