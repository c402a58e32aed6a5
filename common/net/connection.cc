#include "common/net/connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "common/base/text.h"
#include "common/process/run_program.h"

namespace gpuadvise {
namespace {

using std::chrono::milliseconds;

constexpr size_t kReceivedAtOnce = 64 << 10;
// Time before trying the next address of an unreachable host.
constexpr milliseconds kConnectPatience{5'000};

union SocketAddress {
  sockaddr any;
  sockaddr_un local;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

tl::unexpected<Error> Unavailable(std::string why) {
  return Fail(ErrorCode::kUnavailable, std::move(why));
}

// The error for a failed connection to `where`.
tl::unexpected<Error> NotConnected(int error, const SocketAddress& where, const Deadline& within) {
  const bool is_local = where.any.sa_family == AF_UNIX;
  if (error == ENOENT) return Unavailable("there is no such socket");
  if (error == ECONNREFUSED) return Unavailable("nothing listens there");
  if (error == EACCES && is_local) {
    return Unavailable("permission denied; ask to be added to its group");
  }
  if (error == EAGAIN || error == EINPROGRESS || error == ETIMEDOUT) return within.Passed();
  return Unavailable(std::strerror(error));
}

// The send timeout also limits connect(): with a full accept queue or an unresponsive host.
Result<Descriptor> Connected(const SocketAddress& where, socklen_t size, const Deadline& deadline) {
  Descriptor socket(::socket(where.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto left = std::max(deadline.left(), milliseconds(1)).count();
  const timeval limit{left / 1000, left % 1000 * 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  while (!socket || ::connect(socket.get(), &where.any, size) != 0) {
    if (errno != EINTR) return NotConnected(errno, where, deadline);
  }
  return socket;
}

// `text` as an IP address; family AF_UNSPEC if it is none.
SocketAddress ReadAddress(const std::string& text, uint16_t port) {
  SocketAddress address{};
  if (::inet_pton(AF_INET, text.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
  } else if (::inet_pton(AF_INET6, text.c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
  }
  return address;
}

Result<std::vector<SocketAddress>> LookUp(const std::string& host, uint16_t port,
                                          const Deadline& deadline) {
  const SocketAddress itself = ReadAddress(host, port);
  if (itself.any.sa_family != AF_UNSPEC) return std::vector{itself};
  ProgramCall call;
  call.command.words = {"getent", "ahosts", host};
  call.child.errors = ChildErrors::kDiscarded;
  call.deadline = std::max(deadline.left(), milliseconds(1));
  const ProgramEnd end = RunWithin(call);
  if (end.how == ProgramEnd::How::kTooLate) {
    return Unavailable(fmt::format("the name {} is still being looked up after {} ms", host,
                                   call.deadline.count()));
  }
  std::vector<SocketAddress> found;
  for (const std::string_view line : SplitAt(end.output, '\n')) {  // "10.0.0.1  STREAM host"
    if (line.find(" STREAM") == std::string_view::npos) continue;
    found.push_back(ReadAddress(std::string(line.substr(0, line.find(' '))), port));
  }
  std::erase_if(found, [](const auto& one) { return one.any.sa_family == AF_UNSPEC; });
  if (!found.empty()) return found;
  return Unavailable(fmt::format("the name {} is not known here (getent ahosts {})", host, host));
}

}  // namespace

milliseconds Deadline::left() const {
  return std::max(std::chrono::ceil<milliseconds>(at_ - Clock::now()), milliseconds(0));
}

tl::unexpected<Error> Deadline::Passed() const {
  return Unavailable(
      fmt::format("no answer within {} s", static_cast<double>(length_.count()) / 1000));
}

Result<Connection> Connection::ToSocket(const std::string& path, const Deadline& deadline) {
  SocketAddress where{};
  where.local.sun_family = AF_UNIX;
  if (path.size() >= sizeof where.local.sun_path) {
    return BadInput(fmt::format("its path is longer than {} bytes; use a shorter one",
                                sizeof where.local.sun_path - 1));
  }
  path.copy(where.local.sun_path, path.size());
  Result<Descriptor> socket = Connected(where, sizeof where.local, deadline);
  if (!socket) return tl::unexpected<Error>(std::move(socket.error()));
  return Connection(std::move(*socket), deadline);
}

Result<Connection> Connection::ToHost(const std::string& host, uint16_t port,
                                      const Deadline& deadline) {
  const Deadline patience(std::min(kConnectPatience, deadline.left()));
  const Result<std::vector<SocketAddress>> places = LookUp(host, port, patience);
  if (!places) return tl::unexpected<Error>(places.error());
  Error problem;
  for (size_t i = 0; i < places->size(); ++i) {
    const Deadline share(patience.left() / static_cast<int64_t>(places->size() - i));
    Result<Descriptor> socket = Connected((*places)[i], sizeof(SocketAddress::v6), share);
    if (socket) return Connection(std::move(*socket), deadline);
    problem = std::move(socket.error());
  }
  return tl::unexpected<Error>(std::move(problem));
}

bool Connection::WaitFor(int16_t events) const {
  for (;;) {
    const milliseconds left = deadline_.left();
    if (left.count() <= 0) return false;
    pollfd waiting{socket_.get(), events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Result<void> Connection::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!WaitFor(POLLOUT)) return deadline_.Passed();
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EINTR && errno != EAGAIN) {
      return {};
    }
  }
  return {};
}

Result<std::string> Connection::Receive() {
  std::string bytes(kReceivedAtOnce, '\0');
  for (;;) {
    if (!WaitFor(POLLIN)) return deadline_.Passed();
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got >= 0) {
      bytes.resize(static_cast<size_t>(got));
      return bytes;
    }
    if (errno != EINTR && errno != EAGAIN) {
      return Unavailable(fmt::format("the connection was cut: {}", std::strerror(errno)));
    }
  }
}

}  // namespace gpuadvise
