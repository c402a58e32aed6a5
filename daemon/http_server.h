// The HTTP/1.1 edge: accepts connections, bounds them, and has every request answered on a worker.
//
// All members are called from the thread that runs `io`. Every await has a deadline, every buffer a
// limit. An error while accepting (no descriptors left, a peer that is gone) never ends the loop.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_set>

#include "daemon/api_types.h"
#include "daemon/turns.h"

namespace gpuadvise {

class HttpSession;

struct HttpLimits {
  size_t max_header_bytes = 16u << 10;
  size_t max_body_bytes = 1u << 20;
  size_t max_connections = 256;
  size_t max_connections_per_user = 100'000;  // of callers whom the kernel names
  size_t max_questions = 100'000;             // POSTs that are computed or wait for that
  size_t max_waiting = 100'000;               // the same of other requests
  size_t answers_at_once = 100'000;
  size_t answers_per_user = 100'000;  // at once; then others have their turn
  std::chrono::milliseconds request_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);    // between two requests
  std::chrono::milliseconds event_interval = std::chrono::seconds(15);  // between two events
};

class HttpServer {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Answer = std::function<ApiResponse(const ApiRequest&, const Peer&)>;

  /// Who answers what: POSTs have to be computed, and must not hold up the rest where the two
  /// pools differ.
  struct Workers {
    boost::asio::thread_pool& others;
    boost::asio::thread_pool& posts;
  };

  /// `answer` is called on `workers`. REQUIRES: all outlive the server, which is destroyed after
  /// `io` has stopped running.
  HttpServer(boost::asio::io_context& io, Workers workers, HttpLimits limits, Answer answer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  enum class Callers { kFromKernel, kAnonymous };

  /// Accepts on the listening `descriptor`, which becomes the server's.
  void Listen(int descriptor, Callers callers);

  /// Accepts no more, closes idle connections, lets requests finish, then calls `done`; what is not
  /// finished by `deadline` is cut off.
  void Drain(std::chrono::milliseconds deadline, std::function<void()> done);

  size_t connections() const { return sessions_.size(); }
  const HttpLimits& limits() const { return limits_; }

 private:
  friend class HttpSession;
  struct Listener;

  boost::asio::awaitable<void> AcceptLoop(Listener& listener);
  void Open(Socket socket, const Peer& peer);
  std::string WhyNot(const Peer& peer) const;
  void Closed(HttpSession* session);
  void FinishDrain();

  boost::asio::io_context& io_;
  const Workers workers_;
  const HttpLimits limits_;
  const Answer answer_;
  std::list<Listener> listeners_;
  std::unordered_set<HttpSession*> sessions_;
  const std::shared_ptr<Turns> turns_;
  size_t questions_ = 0;  // of limits_.max_questions
  size_t waiting_ = 0;    // of limits_.max_waiting
  bool draining_ = false;
  std::function<void()> drained_;
  boost::asio::steady_timer drain_timer_;
};

}  // namespace gpuadvise
