// A Unix socket that reads one request per connection and answers with given bytes.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gpuadvise {

// What a connection gets: the pieces, each sent by its own call, then the end; `keep_open` leaves
// the connection open instead, until the server is destroyed.
struct ServedBytes {
  std::vector<std::string> pieces;
  bool keep_open = false;
  bool read_first = true;  // false: answers and hangs up without reading
  std::vector<std::string> later =
      {};  // what the second connection and those after it get; empty: `pieces`
};

class FakeServer {
 public:
  FakeServer(std::string path, ServedBytes served);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  // The bytes of all requests so far, in order.
  std::string requests() const;

 private:
  void Serve();
  void ServeOne(int connection, const std::vector<std::string>& pieces);

  std::string path_;
  ServedBytes served_;
  int listener_ = -1;
  std::vector<int> open_;
  mutable std::mutex mutex_;
  std::string requests_;
  std::thread thread_;
};

// A whole answer with Content-Length.
std::string HttpBytes(int status, const std::string& body);

}  // namespace gpuadvise
