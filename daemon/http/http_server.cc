#include "daemon/http/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "daemon/base/coroutines.h"
#include "daemon/http/http_session.h"
#include "daemon/http/plain_error.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

// A listening descriptor. It is waited on, then accepted from until nothing is left: one code for
// Unix and TCP sockets, and every connection is close-on-exec.
struct HttpServer::Listener {
  asio::posix::stream_descriptor descriptor;
  Callers callers;
};

namespace {

// How long accepting pauses when the system has no descriptor or memory left.
constexpr milliseconds kAcceptPause{100};
// And how long nothing may have failed until that is said to be over.
constexpr std::chrono::seconds kAcceptsAgain{10};

// Of so many connections the last eighth is for callers who hold none, and the last 64th for root.
constexpr size_t kKeptShare = 8;
constexpr size_t kRootShare = 64;

// Connections at a time whose memory is worth giving back.
constexpr size_t kMany = 256;

Peer PeerOf(int descriptor, const HttpLimits& limits) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
  const auto uid = static_cast<int64_t>(credentials.uid);
  return {uid, false, limits.caller_of ? limits.caller_of(uid) : uid};
}

// A number for an address, below 0; of IPv6 for its /64, which one machine may have whole.
int64_t NumberOf(const sockaddr_storage& address) {
  std::string_view bytes;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    bytes = {reinterpret_cast<const char*>(&v4.sin_addr), sizeof(v4.sin_addr)};
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    const auto* all = reinterpret_cast<const char*>(&v6.sin6_addr);
    bytes = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? std::string_view(all + 12, 4)
                                                : std::string_view(all, 8);
  }
  return -1 - static_cast<int64_t>(std::hash<std::string_view>{}(bytes) >> 1);
}

// A caller over TCP: without a name, or the trusted proxy.
Peer StrangerAt(const sockaddr_storage& address, const HttpLimits& limits) {
  Peer stranger{-1, true, NumberOf(address)};
  const std::optional<IpAddress> from = IpAddressOf(address);
  stranger.is_proxy = from && limits.proxy && limits.proxy->address == from;
  return stranger;
}

// A caller on the proxy's socket: whoever else comes there has no name either.
Peer StrangerOnSocket(int descriptor, const HttpLimits& limits) {
  const Peer known = PeerOf(descriptor, limits);
  Peer stranger{-1, true, -1 - std::max<int64_t>(known.uid, 0)};
  stranger.is_proxy = !known.anonymous && limits.proxy && limits.proxy->uid == known.uid;
  return stranger;
}

int FamilyOf(int descriptor) {
  int family = AF_UNIX;
  socklen_t size = sizeof(family);
  getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

// Says why, without waiting: the connection is one too many.
void TurnAway(const Descriptor& connection, const std::string& why) {
  const ApiResponse answer = PlainError(429, "unavailable", why);
  const std::string text = fmt::format(
      "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "Retry-After: 1\r\nConnection: close\r\n\r\n{}",
      answer.body.size(), answer.body);
  if (send(connection.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
    shutdown(connection.get(), SHUT_WR);
  }
}

bool OutOfResources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

std::string WhyNoConnection(size_t open, size_t of_caller, const Peer& peer,
                            const HttpLimits& limits) {
  const bool is_root = !peer.anonymous && peer.uid == 0;
  const size_t for_root = is_root || peer.anonymous ? 0 : limits.max_connections / kRootShare;
  if (open >= limits.max_connections - for_root) {
    return fmt::format("{} connections are open, the maximum; try again", open);
  }
  if (peer.is_proxy) return "";  // it is many callers, whose requests are counted one by one
  if (of_caller >= limits.max_connections_per_user) {
    return fmt::format(
        "{} connections {} are open, the maximum of one {} ({} in gpuadvised.yaml); close some, or "
        "try again",
        of_caller, peer.anonymous ? "from your address" : "of yours",
        peer.anonymous ? "address" : "user", limits.per_user_setting);
  }
  // Where one caller may have them all (a reverse proxy) there is nobody to keep any for.
  const bool one_has_all = limits.max_connections_per_user >= limits.max_connections;
  const size_t kept = one_has_all ? 0 : limits.max_connections / kKeptShare;
  if (is_root || of_caller == 0 || open < limits.max_connections - kept) return "";
  return fmt::format(
      "{} connections are open and the last {} are reserved for users without one; try again, or "
      "use a connection you have",
      open, kept);
}

HttpServer::HttpServer(asio::io_context& io, HttpWorkers workers, const HttpLimits& limits,
                       HttpAnswer answer, std::optional<HttpGate> gate)
    : io_(io), service_(workers, limits, std::move(answer), std::move(gate)), drain_timer_(io) {
  service_.why_no_connection = [this](const Peer& peer) { return WhyNot(peer); };
}

HttpServer::~HttpServer() = default;

void HttpServer::Listen(Descriptor descriptor, Callers callers) {
  for (Listener& listener : listeners_) {
    error_code ignored;
    if (listener.callers == callers) listener.descriptor.close(ignored);
  }
  listeners_.push_back({asio::posix::stream_descriptor(io_, descriptor.Release()), callers});
  Listener& listener = listeners_.back();
  asio::co_spawn(io_, AcceptLoop(listener), [this](const std::exception_ptr& failure) {
    EndsTheDaemon(failure);
    listeners_.remove_if([](const Listener& each) { return !each.descriptor.is_open(); });
  });
}

asio::awaitable<void> HttpServer::AcceptLoop(Listener& listener) {
  asio::steady_timer pause(io_);
  error_code error;
  std::optional<std::chrono::steady_clock::time_point> failed;  // last, since that was said
  while (!draining_) {
    co_await listener.descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                            asio::redirect_error(asio::use_awaitable, error));
    if (draining_ || !listener.descriptor.is_open()) break;
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int accepted =
        accept4(listener.descriptor.native_handle(), reinterpret_cast<sockaddr*>(&address), &size,
                SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted >= 0) {
      if (failed && std::chrono::steady_clock::now() - *failed > kAcceptsAgain) {
        spdlog::info("connections are taken again");
        failed.reset();
      }
      Take(Descriptor(accepted), PeerAt(accepted, address, listener.callers));
    } else if (OutOfResources(errno)) {
      if (!failed) spdlog::warn("no connection can be taken: {}; trying again", strerror(errno));
      failed = std::chrono::steady_clock::now();
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }
}

Peer HttpServer::PeerAt(int descriptor, const sockaddr_storage& address, Callers callers) const {
  switch (callers) {
    case Callers::kFromKernel:
      return PeerOf(descriptor, service_.limits);
    case Callers::kProxySocket:
      return StrangerOnSocket(descriptor, service_.limits);
    case Callers::kAnonymous:
      break;
  }
  return StrangerAt(address, service_.limits);
}

void HttpServer::Take(Descriptor connection, const Peer& peer) {
  const bool is_secure = service_.gate.has_value();
  if (is_secure) {
    if (!MakeRoomForStranger(peer.caller)) return;
  } else if (const std::string why = WhyNot(peer); !why.empty()) {
    TurnAway(connection, why);
    return;
  }
  // Over TCP what is written goes at once: a TLS record would wait for the acknowledgement of the
  // one before it, which callers delay by 40 ms. A Unix socket knows no such option.
  const int yes = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  HttpSocket socket(io_);
  const asio::generic::stream_protocol protocol(FamilyOf(connection.get()), 0);
  error_code error;
  socket.assign(protocol, connection.get(), error);
  if (error) return;
  connection.Release();
  auto session = std::make_shared<HttpSession>(
      service_,
      is_secure ? HttpStream(std::move(socket), service_.gate->certificate.context())
                : HttpStream(std::move(socket)),
      peer, [this](HttpSession* ended) { OnClosed(ended); });
  sessions_.insert(session.get());
  most_ = std::max(most_, sessions_.size());
  session->Start();
}

std::string HttpServer::WhyNot(const Peer& peer) const {
  size_t open = 0;
  size_t of_caller = 0;
  for (const HttpSession* session : sessions_) {
    if (session->is_strangers()) continue;
    ++open;
    if (session->caller() == peer.caller) ++of_caller;
  }
  return WhyNoConnection(open, of_caller, peer, service_.limits);
}

// Whether there is a place for one more connection from `address` that has shown nobody (HttpGate).
bool HttpServer::MakeRoomForStranger(int64_t address) {
  size_t strangers = 0;
  std::unordered_map<int64_t, size_t> of_address;
  for (const HttpSession* session : sessions_) {
    if (!session->is_strangers()) continue;
    ++strangers;
    ++of_address[session->caller()];
  }
  if (of_address[address] >= service_.gate->max_strangers_per_address) return false;
  if (strangers < service_.gate->max_strangers) return true;
  HttpSession* last = nullptr;
  for (HttpSession* session : sessions_) {
    if (!session->is_strangers()) continue;
    const auto rank = [&](const HttpSession& each) {
      return std::pair(of_address[each.caller()], -each.quiet_since().time_since_epoch());
    };
    if (last == nullptr || rank(*session) > rank(*last)) last = session;
  }
  last->Cut();
  return true;
}

void HttpServer::OnClosed(HttpSession* session) {
  sessions_.erase(session);
  GiveMemoryBack();
  if (draining_ && sessions_.empty()) FinishDrain();
}

// After many connections at a time: their memory lies between that of others, where the allocator
// keeps it.
void HttpServer::GiveMemoryBack() {
  if (most_ < kMany || sessions_.size() > most_ / 4) return;
  most_ = sessions_.size();
  malloc_trim(0);
}

void HttpServer::Drain(milliseconds deadline, std::function<void()> done) {
  draining_ = true;
  drained_ = std::move(done);
  for (Listener& listener : listeners_) {
    error_code ignored;
    listener.descriptor.close(ignored);
  }
  if (sessions_.empty()) return FinishDrain();
  const std::unordered_set<HttpSession*> open = sessions_;
  for (HttpSession* session : open) session->Drain();
  drain_timer_.expires_after(deadline);
  drain_timer_.async_wait([this](error_code error) {
    if (error) return;
    spdlog::warn("{} connections are cut off", sessions_.size());
    const std::unordered_set<HttpSession*> late = sessions_;
    for (HttpSession* session : late) session->Cut();
    FinishDrain();
  });
}

void HttpServer::FinishDrain() {
  drain_timer_.cancel();
  if (auto done = std::exchange(drained_, nullptr)) done();
}

}  // namespace gpuadvise::daemon
