#include "tests/fakes/fake_server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace gpuadvise {
namespace {

// Whether the header is complete and as many body bytes follow as it says.
bool IsWhole(const std::string& request) {
  const size_t head = request.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  const size_t length = request.find("Content-Length: ");
  if (length == std::string::npos) return true;
  return request.size() >= head + 4 + std::stoul(request.substr(length + 16));
}

}  // namespace

FakeServer::FakeServer(std::string path, ServedBytes served)
    : path_(std::move(path)), served_(std::move(served)) {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  ::unlink(path_.c_str());  // of a server before this one
  ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::listen(listener_, 8);
  thread_ = std::thread([this] { Serve(); });
}

FakeServer::~FakeServer() {
  ::shutdown(listener_, SHUT_RDWR);  // wakes accept()
  thread_.join();
  for (int connection : open_) ::close(connection);
  ::close(listener_);
}

void FakeServer::Serve() {
  for (bool is_first = true;;) {
    const int connection = ::accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    ServeOne(connection, is_first || served_.later.empty() ? served_.pieces : served_.later);
    is_first = false;
    if (served_.keep_open) {
      open_.push_back(connection);
    } else {
      ::close(connection);
    }
  }
}

void FakeServer::ServeOne(int connection, const std::vector<std::string>& pieces) {
  std::string request;
  char buffer[4096];
  while (served_.read_first && !IsWhole(request)) {
    const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    request.append(buffer, static_cast<size_t>(got));
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_ += request;
  }
  for (const std::string& piece : pieces) {
    ::send(connection, piece.data(), piece.size(), MSG_NOSIGNAL);
  }
}

std::string FakeServer::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

std::string HttpBytes(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace gpuadvise
