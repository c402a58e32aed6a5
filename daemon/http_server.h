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
#include <unordered_set>

#include "daemon/api_types.h"

namespace gpuadvise {

class HttpSession;

struct HttpLimits {
  size_t max_header_bytes = 16u << 10;
  size_t max_body_bytes = 1u << 20;
  size_t max_connections = 256;
  std::chrono::milliseconds request_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);  // between two requests
};

class HttpServer {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Answer = std::function<ApiResponse(const ApiRequest&, const Peer&)>;

  /// `answer` is called on `workers`. REQUIRES: both outlive the server, which is destroyed after
  /// `io` has stopped running.
  HttpServer(boost::asio::io_context& io, boost::asio::thread_pool& workers, HttpLimits limits,
             Answer answer);
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
  void Open(Socket socket, Callers callers);
  void Closed(HttpSession* session);
  void FinishDrain();

  boost::asio::io_context& io_;
  boost::asio::thread_pool& workers_;
  const HttpLimits limits_;
  const Answer answer_;
  std::list<Listener> listeners_;
  std::unordered_set<HttpSession*> sessions_;
  bool draining_ = false;
  std::function<void()> drained_;
  boost::asio::steady_timer drain_timer_;
};

}  // namespace gpuadvise
