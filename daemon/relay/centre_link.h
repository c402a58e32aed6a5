// The way to the central daemon: requests over mutual TLS, each with the uid that the kernel told.
//
// Connections are kept and used again; a request that finds its connection closed goes over a new
// one. Of several addresses the one that answered last is asked first, and the next where nobody
// answers or a standby does. Belongs to the thread that runs `io`.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/api_types.h"
#include "daemon/http/event_feed.h"
#include "daemon/tls/tls_context.h"
#include "daemon/tls/web_address.h"

namespace gpuadvise::daemon {

struct CentreTimes {
  std::chrono::milliseconds connect{3'000};   // name, connection and handshake
  std::chrono::milliseconds answer{25'000};   // less than a client waits
  std::chrono::milliseconds idle{30'000};     // that a connection is kept; the daemon keeps it 60 s
  std::chrono::milliseconds silence{60'000};  // between two events; the daemon sends one in 15 s
};

class CentreLink {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // REQUIRES: `tls` outlives it; `addresses` is not empty. `host`: this one's name.
  CentreLink(boost::asio::io_context& io, std::vector<WebAddress> addresses, const TlsContext& tls,
             std::string host, CentreTimes times = {});
  ~CentreLink();

  // The central daemon's answer to `peer`, or 503 with what is wrong and how old its last answer
  // is. REQUIRES: `request` and `peer` outlive the call.
  boost::asio::awaitable<ApiResponse> Ask(const ApiRequest& request, const Peer& peer);

  // Forgets connections that are kept: they rest on certificates that have changed.
  void Drop();

  const WebAddress& address() const { return addresses_[current_]; }
  std::optional<Moment> answered_at() const { return answered_at_; }
  const std::string& problem() const { return problem_; }  // "": the last request was answered

  static constexpr size_t kMostAnswerBytes = 64u << 20;
  static constexpr size_t kMostIdle = 32;

 private:
  struct Connection;
  using Held = std::unique_ptr<Connection>;

  boost::asio::awaitable<std::optional<ApiResponse>> AskOne(const WebAddress& address,
                                                            const ApiRequest& request,
                                                            const Peer& peer);
  Held TakeIdle(const WebAddress& address);
  boost::asio::awaitable<Held> Connect(const WebAddress& address, std::string& problem);
  boost::asio::awaitable<boost::system::error_code> Exchange(Held& connection,
                                                             const ApiRequest& request,
                                                             const Peer& peer,
                                                             ApiResponse& response);
  boost::asio::awaitable<void> PassEvents(Held connection, std::weak_ptr<EventFeed> feed);
  ApiResponse Unreachable() const;

  boost::asio::io_context& io_;
  const std::vector<WebAddress> addresses_;
  const TlsContext& tls_;
  const std::string host_;
  const CentreTimes times_;
  size_t current_ = 0;
  std::deque<Held> idle_;
  std::optional<Moment> answered_at_;
  std::string problem_;
};

}  // namespace gpuadvise::daemon
