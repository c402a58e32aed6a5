#include "daemon/dashboard/public_edge.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/words.h"
#include "daemon/dashboard/browser_guard.h"
#include "daemon/dashboard/page.h"
#include "daemon/http/plain_error.h"
#include "daemon/metrics/metrics.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;

namespace {

constexpr int kNiceness = 15;

}  // namespace

void StepBack() {
  static std::once_flag said;
  if (setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness) == 0) return;
  std::call_once(said, [error = errno] {
    spdlog::warn(
        "callers over TCP are not put behind users on the socket: {}; in a systemd unit allow "
        "setpriority (listen.conf)",
        strerror(error));
  });
}

namespace {

// What every answer over TCP carries: no other page may read or embed it.
void Close(ApiResponse& response) {
  response.fields.emplace_back("X-Content-Type-Options", "nosniff");
  response.fields.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}

// The same state, without the threads that are kept for the Unix socket.
ApiState WithoutHelpers(ApiState state, AnswerCache& answers) {
  state.for_each = Serial;
  state.shared = &answers;
  return state;
}

}  // namespace

PublicEdge::PublicEdge(const ApiState& state, PublicEdgeOptions options)
    : state_(WithoutHelpers(state, answers_)),
      options_(std::move(options)),
      stay_(asio::make_work_guard(io_)),
      server_(
          io_, {pages_, questions_}, options_.limits,
          [this](const ApiRequest& request, const Peer& peer) { return Answer(request, peer); }) {}

PublicEdge::~PublicEdge() {
  pages_.join();
  questions_.join();
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

Peer ProxiedPeer(const ApiRequest& request, const Peer& peer, UserNames& users) {
  if (!peer.is_proxy) return peer;
  Peer nobody = peer;
  if (request.named.empty()) return nobody;
  if (request.named.size() > 1) {
    nobody.why_anonymous =
        "the login proxy sent its header more than once, so it is not known who you are; have it "
        "remove the header from what browsers send";
    return nobody;
  }
  const std::string& name = request.named.front();
  if (name.empty()) return nobody;
  const std::optional<int64_t> uid = IsLoginName(name) ? users.UidOf(name) : std::nullopt;
  if (!uid) {
    nobody.why_anonymous = fmt::format(
        "the login proxy names {}, and this machine knows no such user; what everybody may see is "
        "shown",
        Quoted(Shortened(name, kMaxQuotedBytes)));
    return nobody;
  }
  if (*uid == 0) {
    nobody.why_anonymous =
        "root has no rights behind a login proxy; what everybody may see is shown";
    return nobody;
  }
  return {*uid, false, peer.caller};
}

void PublicEdge::Serve(Descriptor descriptor) {
  Listen(std::move(descriptor), HttpServer::Callers::kAnonymous);
}

void PublicEdge::ServeProxy(Descriptor descriptor) {
  Listen(std::move(descriptor), HttpServer::Callers::kProxySocket);
}

void PublicEdge::Listen(Descriptor descriptor, HttpServer::Callers callers) {
  if (thread_.joinable()) {
    auto shared = std::make_shared<Descriptor>(std::move(descriptor));
    asio::post(io_, [this, shared, callers] { server_.Listen(std::move(*shared), callers); });
    return;
  }
  server_.Listen(std::move(descriptor), callers);
  thread_ = std::thread([this] {
    StepBack();
    io_.run();
  });
}

void PublicEdge::Drain(std::chrono::milliseconds deadline, std::function<void()> done) {
  asio::post(io_, [this, deadline, done = std::move(done)] { server_.Drain(deadline, done); });
}

ApiResponse AnswerOverTcp(const ApiRequest& request, const Peer& peer, ApiState& state,
                          const std::vector<std::string>& hosts, CompressedAnswers& compressed) {
  // Answers that the API does not see.
  const auto counted = [&](const char* route, const ApiResponse& response) {
    if (state.metrics != nullptr) state.metrics->Count(route, request.method, response, true);
  };
  ApiResponse response;
  if (const Result<void> allowed = CheckBrowser(request, hosts); !allowed) {
    response = PlainError(403, "forbidden", allowed.error().message);
    counted("forbidden", response);
  } else if (auto page = AnswerPage(request)) {
    response = std::move(*page);
    counted("page", response);
  } else {
    response = Handle(request, ProxiedPeer(request, peer, state.users), state);
    compressed.Compress(request, response);
  }
  Close(response);
  return response;
}

ApiResponse PublicEdge::Answer(const ApiRequest& request, const Peer& peer) {
  thread_local const bool behind = (StepBack(), true);
  static_cast<void>(behind);
  return AnswerOverTcp(request, peer, state_, options_.hosts, compressed_);
}

}  // namespace gpuadvise::daemon
