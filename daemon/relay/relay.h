// `gpuadvised --relay URL`: the Unix socket of a host whose daemon is on another one.
//
// It keeps nothing and computes nothing. Who asks is told by the kernel, on this host; the central
// daemon believes it because this process shows a certificate that the site lists as a relay's.
// GET /v1/relay is answered here: how the way to the daemon is.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>

#include "common/base/error.h"
#include "common/base/unix_time.h"
#include "daemon/base/watchdog.h"
#include "daemon/http/http_server.h"
#include "daemon/http/listening.h"
#include "daemon/relay/centre_link.h"
#include "daemon/settings/settings.h"
#include "daemon/tls/tls_context.h"

namespace gpuadvise::daemon {

class Relay {
 public:
  // Reads the certificates and binds the socket. Errors: the first thing in the way, with its
  // remedy. REQUIRES: settings.relay.url is not empty.
  static Result<std::unique_ptr<Relay>> Make(const Settings& settings);
  ~Relay();

  // Until SIGTERM or SIGINT. Call once.
  void Run();

 private:
  Relay(const Settings& settings, std::vector<WebAddress> addresses,
        std::unique_ptr<TlsContext> tls, UnixListener listener);
  boost::asio::awaitable<ApiResponse> Answer(const ApiRequest& request, const Peer& peer);
  ApiResponse Health() const;
  void LookAtFiles();
  void RestoreSocket();
  void SayExpiry();
  void WatchSignals();

  const Settings settings_;
  const std::unique_ptr<TlsContext> tls_;
  std::string file_problem_;  // as it was logged
  std::string link_problem_;
  UnixSeconds expires_at_ = 0;  // this relay's certificate
  boost::asio::io_context io_{1};
  boost::asio::thread_pool none_{1};  // the server's workers, for whom there is no work
  std::optional<UnixListener> listener_;
  std::string socket_problem_;  // why there is no socket, as it was logged
  bool stopping_ = false;
  CentreLink link_;
  HttpServer server_;
  boost::asio::signal_set signals_;
  Watchdog watchdog_;
  boost::asio::steady_timer look_;
};

}  // namespace gpuadvise::daemon
