// What `watch` tells of one check.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpuadvise::client {

// An event worth a notification, each once.
struct WatchNews {
  std::string event;  // "started", "moved", "better", "hang", "idle", "limit", "failed", "ended"
  std::string text;
};

struct WatchStatus {
  std::string state;               // "pending", "running", "ended", "unknown"; "" not known
  std::string name;                // of the job; "" not known
  std::string reason;              // why it waits, or how it ended: "ok", "out of memory"
  std::string line;                // the state now; "" when nothing is known
  bool changed = false;            // since the last line that was
  std::vector<std::string> notes;  // each said once
  std::vector<WatchNews> news;
  std::vector<std::string> complaints;  // for standard error
  std::optional<int> exit_code;         // the watch is over
};

}  // namespace gpuadvise::client
