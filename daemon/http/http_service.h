// What all connections of one server share: its bounds, who answers, whose turn it is, and how many
// requests wait for an answer. Belongs to the server's thread.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "daemon/base/api_types.h"
#include "daemon/base/ip_address.h"
#include "daemon/http/fair_queue.h"
#include "daemon/http/places.h"
#include "daemon/http/server_certificate.h"

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
  size_t max_connections = 256;  // but for HttpGate::max_strangers
  // Per user, or over TCP per address (Peer::caller). The limits below count in the same way.
  size_t max_connections_per_user = 100'000;
  const char* per_user_setting = "max_connections_per_user";  // that says so
  // Whose bounds a uid counts for; nullptr: its own.
  std::function<int64_t(int64_t uid)> caller_of = nullptr;
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

// Who asks, by the header of a request; may block. Errors: kBadInput: what is shown is not believed
// (401); kUnavailable: it cannot be found out now (503).
using HttpIdentify = std::function<Result<Peer>(const ApiRequest& header, const Peer& peer)>;

// The way in over TLS, where requests show who asks (Authorization).
//
// A connection that has shown nobody is a stranger's, and must not keep out those who show
// somebody. Strangers have places of their own, a time for the first request, and one thread that
// answers. When all of these places are taken a new connection gets that of the address with the
// most, whose connection was quiet the longest. With the first user who is believed a connection
// becomes that user's (HttpLimits).
struct HttpGate {
  const ServerCertificate& certificate;
  HttpIdentify identify;                       // called on `identity_workers`
  boost::asio::thread_pool& identity_workers;  // so that a munged that hangs holds up no answer
  boost::asio::thread_pool& strangers;         // of one thread
  size_t max_strangers = 512;                  // connections
  size_t max_strangers_per_address = 512;
  size_t max_strangers_body_bytes = 64u << 10;
  std::chrono::milliseconds first_request_timeout = std::chrono::seconds(5);
};

// Who answers what: POSTs have to be computed, and must not hold up the rest where the two pools
// differ.
struct HttpWorkers {
  boost::asio::thread_pool& others;
  boost::asio::thread_pool& posts;
};

struct HttpService {
  HttpService(HttpWorkers with, const HttpLimits& within, HttpAnswer answered,
              std::optional<HttpGate> gated)
      : workers(with),
        limits(within),
        answer(std::move(answered)),
        gate(std::move(gated)),
        turns(FairQueue::Make(limits.answers_at_once, limits.answers_per_user)),
        post_turns(&workers.others == &workers.posts
                       ? turns
                       : FairQueue::Make(limits.answers_at_once, limits.answers_per_user)),
        strangers_turns(FairQueue::Make(1, 1)),
        identity_turns(FairQueue::Make(2, 1)),
        questions(Places::Make(limits.max_questions, limits.max_questions_per_user)),
        waiting(Places::Make(limits.max_waiting, limits.max_waiting_per_user)),
        events(Places::Make(limits.max_events, limits.max_events_per_user)) {}

  const HttpWorkers workers;
  const HttpLimits limits;
  const HttpAnswer answer;  // called on the workers
  const std::optional<HttpGate> gate;
  // Why a further connection of this user is one too many; "": it is not. Set before serving.
  std::function<std::string(const Peer&)> why_no_connection;
  const std::shared_ptr<FairQueue> turns;
  const std::shared_ptr<FairQueue> post_turns;
  const std::shared_ptr<FairQueue> strangers_turns;
  const std::shared_ptr<FairQueue> identity_turns;
  const std::shared_ptr<Places> questions;
  const std::shared_ptr<Places> waiting;
  const std::shared_ptr<Places> events;
};

}  // namespace gpuadvise::daemon
