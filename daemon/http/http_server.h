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
#include <string>
#include <unordered_set>

#include "daemon/base/api_types.h"
#include "daemon/http/http_service.h"
#include "daemon/http/http_stream.h"
#include "daemon/tls/tls_context.h"
#include "process/descriptor.h"

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
             HttpAnswer answer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // kProxySocket: a Unix socket whose callers have no name, and one of which is the trusted proxy
  // (HttpLimits::proxy), as the kernel says.
  enum class Callers { kFromKernel, kAnonymous, kProxySocket, kOverTls };

  // Accepts on the listening `descriptor`, which becomes the server's, in place of an earlier one
  // for such callers.
  void Listen(Descriptor descriptor, Callers callers);

  // The same over TLS, of callers without a name but that of their certificate. Each connection is
  // as `context` is when it opens.
  void ListenTls(Descriptor descriptor, const TlsContext& context);

  // Ends what rests on an earlier state of the context: idle connections now, others after their
  // answer.
  void DropTls();

  // Has requests answered by waiting for somebody else's answer. Call before Listen().
  void Forward(HttpForward forward) { service_.forward = std::move(forward); }

  // Accepts no more, closes idle connections, lets requests finish, then calls `done`; what is not
  // finished by `deadline` is cut off.
  void Drain(std::chrono::milliseconds deadline, std::function<void()> done);

  size_t connections() const { return sessions_.size(); }

 private:
  struct Listener;

  boost::asio::awaitable<void> AcceptLoop(Listener& listener);
  Peer PeerAt(int descriptor, const sockaddr_storage& address, Callers callers) const;
  void Accept(Descriptor descriptor, Callers callers, const TlsContext* context);
  void Open(HttpStream stream, const Peer& peer);
  std::string WhyNot(const Peer& peer) const;
  void OnClosed(HttpSession* session);
  void FinishDrain();

  boost::asio::io_context& io_;
  HttpService service_;
  std::list<Listener> listeners_;
  std::unordered_set<HttpSession*> sessions_;
  bool draining_ = false;
  std::function<void()> drained_;
  boost::asio::steady_timer drain_timer_;
};

}  // namespace gpuadvise::daemon
