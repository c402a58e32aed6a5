// A connected byte stream to a server, with one deadline for all operations.
//
// Errors are kUnavailable and complete a sentence: "nothing listens there". Blocking; one thread at
// a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/process/descriptor.h"

namespace gpuadvise {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(std::chrono::milliseconds length)
      : length_(length), at_(Clock::now() + length) {}

  std::chrono::milliseconds left() const;  // 0: it has passed
  tl::unexpected<Error> Passed() const;    // "no answer within 30 s"

 private:
  std::chrono::milliseconds length_;
  Clock::time_point at_;
};

class Connection {
 public:
  // Names are looked up by `getent` of this machine, which ends at the deadline as nothing in this
  // process could, and knows a machine's own ways also to a static program.
  static Result<Connection> ToSocket(const std::string& path, const Deadline& deadline);
  static Result<Connection> ToHost(const std::string& host, uint16_t port,
                                   const Deadline& deadline);

  // Not an error if the peer stopped reading: it may have answered early.
  Result<void> Send(std::string_view bytes);
  // The next bytes; "": the peer has closed.
  Result<std::string> Receive();

 private:
  Connection(Descriptor socket, const Deadline& deadline)
      : socket_(std::move(socket)), deadline_(deadline) {}
  bool WaitFor(int16_t events) const;  // false: the deadline has passed

  Descriptor socket_;
  Deadline deadline_;
};

}  // namespace gpuadvise
