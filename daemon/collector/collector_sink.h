// Receiver of a collector's output.
//
// Called by one thread at a time, a worker: parsing a large cluster would block the daemon's io
// thread for too long.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuadvise::daemon {

// The meaning of a piece of output.
struct CollectorProgress {
  bool alive = false;                  // a complete batch, a heartbeat or a reported error
  bool delivered = false;              // a complete snapshot
  std::optional<std::string> error;    // error reported by the collector, if it persists
  std::optional<std::string> rubbish;  // unreadable output, if that persists
};

class CollectorSink {
 public:
  virtual ~CollectorSink() = default;

  // A new collector starts: drops any incomplete batch of an earlier one.
  virtual void Begin() = 0;

  virtual CollectorProgress Feed(std::string_view bytes) = 0;
};

}  // namespace gpuadvise::daemon
