// The HTTP/1.1 edge: accepts connections, bounds them, and has every request answered on a worker.
//
// All members are called from the thread that runs `io`. Every await has a deadline, every buffer a
// limit. An error while accepting (no descriptors left, a peer that is gone) never ends the loop.
#pragma once

#include <sys/socket.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <unordered_set>

#include "common/process/descriptor.h"
#include "daemon/base/api_types.h"
#include "daemon/http/http_service.h"

namespace gpuadvise::daemon {

class HttpSession;

// Why `peer`, of whom `of_caller` of all `open` connections are, gets no further one; "": it does.
// The last eighth of all is for callers who hold none, and the last 64th for root. The trusted
// proxy is bounded by all connections alone.
std::string WhyNoConnection(size_t open, size_t of_caller, const Peer& peer,
                            const HttpLimits& limits);

class HttpServer {
 public:
  // `answer` is called on `workers`. REQUIRES: all outlive the server, which is destroyed after
  // `io` has stopped running.
  HttpServer(boost::asio::io_context& io, HttpWorkers workers, const HttpLimits& limits,
             HttpAnswer answer, std::optional<HttpGate> gate = std::nullopt);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // kProxySocket: a Unix socket whose callers have no name, and one of which is the trusted proxy
  // (HttpLimits::proxy), as the kernel says.
  enum class Callers { kFromKernel, kAnonymous, kProxySocket };

  // Accepts on the listening `descriptor`, which becomes the server's, in place of an earlier one
  // for such callers. All are over TLS where there is a gate.
  void Listen(Descriptor descriptor, Callers callers);

  // Accepts no more, closes idle connections, lets requests finish, then calls `done`; what is not
  // finished by `deadline` is cut off.
  void Drain(std::chrono::milliseconds deadline, std::function<void()> done);

  size_t connections() const { return sessions_.size(); }

 private:
  struct Listener;

  boost::asio::awaitable<void> AcceptLoop(Listener& listener);
  Peer PeerAt(int descriptor, const sockaddr_storage& address, Callers callers) const;
  void Take(Descriptor connection, const Peer& peer);
  std::string WhyNot(const Peer& peer) const;
  bool MakeRoomForStranger(int64_t address);
  void OnClosed(HttpSession* session);
  void GiveMemoryBack();
  void FinishDrain();

  boost::asio::io_context& io_;
  HttpService service_;
  std::list<Listener> listeners_;
  std::unordered_set<HttpSession*> sessions_;
  size_t most_ = 0;  // sessions at a time, since memory was given back
  bool draining_ = false;
  std::function<void()> drained_;
  boost::asio::steady_timer drain_timer_;
};

}  // namespace gpuadvise::daemon
