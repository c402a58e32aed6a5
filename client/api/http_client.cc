#include "client/api/http_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "common/base/text.h"
#include "process/descriptor.h"

namespace gpuadvise::client {
namespace {

using Clock = std::chrono::steady_clock;

tl::unexpected<Error> Unavailable(std::string message) {
  return Fail(ErrorCode::kUnavailable, std::move(message));
}

tl::unexpected<Error> TooLate(const std::string& path, std::chrono::milliseconds timeout) {
  return Unavailable("no answer from " + path + " within " +
                     (timeout.count() < 1000 ? std::to_string(timeout.count()) + " ms"
                                             : std::to_string(timeout.count() / 1000) + " s") +
                     "; gpuadvised is overloaded or hanging");
}

std::string WhyNotConnected(int error) {
  switch (error) {
    case ENOENT:
      return "there is no such socket";
    case ECONNREFUSED:
      return "nothing listens there";
    case EACCES:
      return "permission denied; ask to be added to its group";
    default:
      return std::strerror(error);
  }
}

// A peer whose queue of connections is full keeps connect() waiting: at most as long as sending.
void LimitConnect(const Descriptor& socket, std::chrono::milliseconds timeout) {
  timeval limit{};
  limit.tv_sec = timeout.count() / 1000;
  limit.tv_usec = timeout.count() % 1000 * 1000;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Result<void> Connect(const Descriptor& socket, const std::string& path,
                     std::chrono::milliseconds timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return BadInput("the socket path " + path + " is longer than " +
                    std::to_string(sizeof address.sun_path - 1) + " bytes; use a shorter one");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  LimitConnect(socket, timeout);
  if (!socket || ::connect(socket.get(), where, sizeof address) != 0) {
    if (errno == EAGAIN) return TooLate(path, timeout);
    return Unavailable("cannot reach gpuadvised at " + path + ": " + WhyNotConnected(errno));
  }
  return {};
}

// Whether the socket became ready for `events` before the deadline.
bool WaitFor(int fd, int16_t events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{fd, events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// False when the deadline passed; a peer that stopped reading may still answer (an early error).
bool SendAll(int fd, std::string_view bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    if (!WaitFor(fd, POLLOUT, deadline)) return false;
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EINTR && errno != EAGAIN) {
      return true;
    }
  }
  return true;
}

std::string Serialised(const HttpRequest& request) {
  std::string bytes = request.method + " " + request.target +
                      " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  if (request.method == "POST") {
    bytes +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(request.body.size()) +
        "\r\n\r\n" + request.body;
  } else {
    bytes += "\r\n";
  }
  return bytes;
}

}  // namespace

std::string QueryEncoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      encoded += c;
    } else {
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

Result<HttpAnswer> AskOverUnixSocket(const std::string& path, const HttpRequest& request,
                                     std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (Result<void> connected = Connect(socket, path, timeout); !connected) {
    return tl::unexpected<Error>(connected.error());
  }
  if (!SendAll(socket.get(), Serialised(request), deadline)) return TooLate(path, timeout);
  std::string bytes;
  const auto buffer = std::make_unique<char[]>(64 << 10);
  for (;;) {
    if (!WaitFor(socket.get(), POLLIN, deadline)) return TooLate(path, timeout);
    const ssize_t got = ::recv(socket.get(), buffer.get(), 64 << 10, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) bytes.append(buffer.get(), static_cast<size_t>(got));
    if (bytes.size() > kMaxAnswerBytes) return Unavailable("the answer is larger than 64 MiB");
    Result<ParsedAnswer> parsed = ParseHttpAnswer(bytes, got <= 0);
    if (!parsed) return tl::unexpected<Error>(parsed.error());
    if (parsed->complete) return std::move(parsed->answer);
    if (got <= 0)
      return Unavailable("gpuadvised at " + path + " closed the connection before it answered");
  }
}

}  // namespace gpuadvise::client
