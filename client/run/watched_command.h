// Runs a command and monitors its output and end, with as little influence on it as possible.
//
// Passes its output on byte by byte and our signals to it. It has its own process group, with the
// terminal if there is one, and its end is reported exactly. Blocks the calling thread; one at a
// time per process.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/process/child_process.h"

namespace gpuadvise::client {

struct CommandEnd : ChildEnd {
  bool stopped = false;      // by us, at the watcher's request
  bool told_to_end = false;  // we got SIGTERM, SIGINT, SIGHUP or SIGQUIT

  // As in a shell: 128 + signal.
  int ShellStatus() const { return signal != 0 ? 128 + signal : exit_code; }
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  // A line of either output without its end, at most 64 KiB; '\r' also ends a line.
  virtual void OnLine(std::string_view line) = 0;
  // Called periodically, with or without output.
  virtual void OnTick() = 0;
  // Whether to end the command now, with all its processes.
  virtual bool WantsEnd() = 0;
};

struct WatchedOptions {
  std::chrono::milliseconds tick{2000};
  std::chrono::milliseconds grace{10'000};  // from SIGTERM to SIGKILL if we end it
  std::vector<std::string> environment;     // "NAME=VALUE", added to ours
};

// Errors: kNotFound (no such program), kInternal; both name it.
Result<CommandEnd> RunWatched(const std::vector<std::string>& command,
                              const WatchedOptions& options, Watcher& watcher);

}  // namespace gpuadvise::client
