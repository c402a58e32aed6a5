#include "daemon/dashboard/public_edge.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "daemon/dashboard/browser_guard.h"
#include "daemon/dashboard/page.h"
#include "daemon/http/frame.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;

namespace {

constexpr int kNiceness = 15;

// This thread from now on goes behind those that answer the Unix socket. Where that is refused,
// everything works all the same.
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

void PublicEdge::Serve(Descriptor descriptor) {
  server_.Listen(std::move(descriptor), HttpServer::Callers::kAnonymous);
  if (thread_.joinable()) return;
  thread_ = std::thread([this] {
    StepBack();
    io_.run();
  });
}

void PublicEdge::Drain(std::chrono::milliseconds deadline, std::function<void()> done) {
  asio::post(io_, [this, deadline, done = std::move(done)] { server_.Drain(deadline, done); });
}

ApiResponse PublicEdge::Answer(const ApiRequest& request, const Peer& peer) {
  thread_local const bool behind = (StepBack(), true);
  static_cast<void>(behind);
  ApiResponse response;
  if (const Result<void> allowed = CheckBrowser(request, options_.hosts); !allowed) {
    response = PlainError(403, "forbidden", allowed.error().message);
  } else if (auto page = AnswerPage(request)) {
    response = std::move(*page);
  } else {
    response = Handle(request, peer, state_);
  }
  Close(response);
  return response;
}

}  // namespace gpuadvise::daemon
