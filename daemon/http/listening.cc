#include "daemon/http/listening.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "common/process/name_service.h"

namespace gpuadvise::daemon {
namespace {

constexpr int kBacklog = 1024;

tl::unexpected<Error> Cannot(const std::string& what, const std::string& remedy) {
  return Fail(ErrorCode::kUnavailable, fmt::format("{}; {}", what, remedy));
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

bool SomebodyAnswers(const std::string& path) {
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = AddressOf(path);
  const int status =
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return status == 0 || errno == EAGAIN || errno == EINPROGRESS;  // EAGAIN: its queue is full
}

// Makes `path` free: nothing there, or only the file of a daemon that is gone.
Result<void> ClearPath(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return Cannot(path + " exists and is not a socket", "remove it or set socket: to another path");
  }
  if (SomebodyAnswers(path)) {
    return Cannot("another gpuadvised answers on " + path,
                  "stop it first or set socket: (--socket) to another path");
  }
  if (unlink(path.c_str()) != 0) {
    return Cannot(fmt::format("the old socket {} cannot be removed: {}", path, strerror(errno)),
                  "remove it or start gpuadvised as its owner");
  }
  return {};
}

Result<void> MakeParent(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code status;
  std::filesystem::create_directories(parent, status);
  if (!status) return {};
  return Cannot(
      fmt::format("the folder {} cannot be created: {}", parent.string(), status.message()),
      "create it, or set socket: (--socket) to a folder that gpuadvised can write");
}

// Through the file that was bound, whatever lies at its path by now.
Result<void> GiveToGroup(const std::string& path, const std::string& group) {
  if (group.empty()) return {};
  const std::optional<gid_t> id = GroupId(group);
  if (!id) {
    return Cannot("socket_group " + group + " is not a group of this machine",
                  "create it or leave socket_group empty");
  }
  const Descriptor file(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  const bool ours =
      file && fstat(file.get(), &info) == 0 && S_ISSOCK(info.st_mode) && info.st_uid == geteuid();
  if (!ours) {
    return Cannot(path + " is no longer the socket that was made there",
                  "set socket: (--socket) to a folder where nobody else can write");
  }
  if (fchownat(file.get(), "", static_cast<uid_t>(-1), *id, AT_EMPTY_PATH) == 0) return {};
  return Cannot(fmt::format("{} cannot be given to group {}: {}", path, group, strerror(errno)),
                "make gpuadvised's user a member of that group, and in a systemd unit allow chown "
                "(socket-group.conf)");
}

// bind() of a file with `mode` from the first moment on: what is changed later by its path may be
// another file by then.
int BindWithMode(int descriptor, const std::string& path, uint32_t mode) {
  const sockaddr_un address = AddressOf(path);
  const mode_t before = umask(static_cast<mode_t>(~mode & 0777));
  const int status = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = errno;
  umask(before);
  errno = error;
  return status;
}

// "127.0.0.1:43211", "[::1]:43211".
std::string BoundAddress(int descriptor) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  auto* address = reinterpret_cast<sockaddr*>(&bound);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getsockname(descriptor, address, &size) != 0 ||
      getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  const std::string name = host.data();
  return (bound.ss_family == AF_INET6 ? "[" + name + "]" : name) + ":" + port.data();
}

}  // namespace

Result<UnixListener> UnixListener::Bind(const std::string& path, uint32_t mode,
                                        const std::string& group) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Cannot(fmt::format("the socket path {} is longer than {} bytes", path,
                              sizeof(sockaddr_un::sun_path) - 1),
                  "choose a shorter one");
  }
  Result<void> ready = MakeParent(path);
  if (ready) ready = ClearPath(path);
  if (!ready) return tl::unexpected<Error>(std::move(ready.error()));
  Descriptor descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor || BindWithMode(descriptor.get(), path, mode) != 0) {
    return Cannot(fmt::format("{} cannot be bound: {}", path, strerror(errno)),
                  "set socket: (--socket) to a path that gpuadvised can write");
  }
  UnixListener listener(path, std::move(descriptor));
  Result<void> access = GiveToGroup(path, group);
  if (!access) return tl::unexpected<Error>(std::move(access.error()));
  if (listen(listener.descriptor_.get(), kBacklog) != 0) {
    return Cannot(fmt::format("{} cannot be listened on: {}", path, strerror(errno)), "try again");
  }
  return listener;
}

UnixListener::UnixListener(std::string path, Descriptor descriptor)
    : path_(std::move(path)), descriptor_(std::move(descriptor)) {
  struct stat info {};
  if (lstat(path_.c_str(), &info) == 0) {
    device_ = info.st_dev;
    inode_ = info.st_ino;
  }
}

UnixListener::UnixListener(UnixListener&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      descriptor_(std::move(other.descriptor_)),
      device_(other.device_),
      inode_(other.inode_) {}

bool UnixListener::IsGone() const {
  struct stat info {};
  return lstat(path_.c_str(), &info) != 0 && errno == ENOENT;
}

UnixListener::~UnixListener() {
  descriptor_.Close();
  struct stat info {};
  if (path_.empty() || lstat(path_.c_str(), &info) != 0) return;
  if (info.st_dev == device_ && info.st_ino == inode_) unlink(path_.c_str());
}

Result<TcpListener> BindTcp(const std::string& listen_at) {
  const size_t colon = listen_at.rfind(':');
  std::string host = colon == 0 ? "127.0.0.1" : listen_at.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int status =
      getaddrinfo(ReachableHost(host).c_str(), listen_at.c_str() + colon + 1, &hints, &found);
  if (status != 0) {
    return Cannot(fmt::format("listen: {} means nothing: {}", listen_at, gai_strerror(status)),
                  "write an address of this machine");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  Descriptor descriptor(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(descriptor.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(descriptor.get(), kBacklog) != 0) {
    return Cannot(fmt::format("listen: {} cannot be listened on: {}", listen_at, strerror(errno)),
                  "choose another port");
  }
  std::string address = BoundAddress(descriptor.get());
  return TcpListener{std::move(descriptor), std::move(address)};
}

}  // namespace gpuadvise::daemon
