// What all connections of one server share: its bounds, who answers, whose turn it is, and how many
// requests wait for an answer. Belongs to the server's thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/base/api_types.h"
#include "daemon/base/ip_address.h"
#include "daemon/http/fair_queue.h"
#include "daemon/http/places.h"

namespace gpuadvise::daemon {

// A login proxy that may say who asks: which connections are its, and in which header.
struct TrustedProxy {
  std::string header;
  std::optional<IpAddress> address;  // over TCP
  std::optional<int64_t> uid;        // on the socket that is the proxy's own
};

struct HttpLimits {
  std::optional<TrustedProxy> proxy = std::nullopt;
  size_t max_header_bytes = 16u << 10;
  size_t max_body_bytes = 1u << 20;
  // The same over TLS of who has shown no certificate: what the request says of itself is not
  // believed before it has been read.
  size_t max_unproven_body_bytes = 64u << 10;
  size_t max_connections = 256;
  // Of one user, or over TCP of one address (Peer::caller); so below.
  size_t max_connections_per_user = 100'000;
  const char* per_user_setting = "max_connections_per_user";  // that says so
  // Whose bounds a uid counts for; nullptr: its own.
  std::function<int64_t(int64_t uid)> caller_of = nullptr;
  // Whose bounds a request counts for where its connection is of many users (a relay's); nullptr:
  // the connection's.
  std::function<int64_t(const ApiRequest& request, const Peer& peer)> whose = nullptr;
  // Whether a request is certainly of nobody: then HttpWorkers::strangers answer it. Called on the
  // server's thread; nullptr: never.
  std::function<bool(const ApiRequest& request, const Peer& peer)> is_strangers = nullptr;
  size_t max_questions = 100'000;  // POSTs that are computed or wait for that
  size_t max_questions_per_user = 100'000;
  size_t max_waiting = 100'000;  // the same of other requests
  size_t max_waiting_per_user = 100'000;
  size_t max_events = 100'000;  // connections that events are streamed on
  size_t max_events_per_user = 100'000;
  size_t answers_at_once = 100'000;   // of each of the workers' pools
  size_t answers_per_user = 100'000;  // at once; then others have their turn
  std::chrono::milliseconds request_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);    // between two requests
  std::chrono::milliseconds event_interval = std::chrono::seconds(15);  // between two events
};

using HttpAnswer = std::function<ApiResponse(const ApiRequest&, const Peer&)>;

// An answer that is waited for, not computed: called on the server's thread.
using HttpForward =
    std::function<boost::asio::awaitable<ApiResponse>(const ApiRequest&, const Peer&)>;

// Who answers what: POSTs have to be computed, and must not hold up the rest where the two pools
// differ.
struct HttpWorkers {
  boost::asio::thread_pool& others;
  boost::asio::thread_pool& posts;
  boost::asio::thread_pool* strangers = nullptr;  // of one thread, which answers one at a time
};

struct HttpService {
  HttpService(HttpWorkers with, const HttpLimits& within, HttpAnswer answered)
      : workers(with),
        limits(within),
        answer(std::move(answered)),
        turns(FairQueue::Make(limits.answers_at_once, limits.answers_per_user)),
        post_turns(&workers.others == &workers.posts
                       ? turns
                       : FairQueue::Make(limits.answers_at_once, limits.answers_per_user)),
        strangers_turns(FairQueue::Make(1, 1)),
        questions(Places::Make(limits.max_questions, limits.max_questions_per_user)),
        waiting(Places::Make(limits.max_waiting, limits.max_waiting_per_user)),
        events(Places::Make(limits.max_events, limits.max_events_per_user)) {}

  const HttpWorkers workers;
  const HttpLimits limits;
  const HttpAnswer answer;  // called on the workers
  HttpForward forward;      // before `answer` where it is set, which it is before serving
  const std::shared_ptr<FairQueue> turns;
  const std::shared_ptr<FairQueue> post_turns;
  const std::shared_ptr<FairQueue> strangers_turns;
  const std::shared_ptr<Places> questions;
  const std::shared_ptr<Places> waiting;
  const std::shared_ptr<Places> events;
};

}  // namespace gpuadvise::daemon
