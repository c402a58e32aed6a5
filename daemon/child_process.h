// A child process in its own process group, with its stdout and stderr as pipes.
//
// stdin is /dev/null, no other descriptor is inherited, signal handling is back at its defaults,
// and the kernel kills the child when the daemon dies. The whole group is killed together, so that
// what the child started goes with it. Used from one thread; nothing here blocks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/error.h"

namespace gpuadvise {

struct CommandLine {
  std::vector<std::string> arguments;    // the first one is the program's path
  std::vector<std::string> environment;  // "NAME=VALUE", put over the daemon's own
};

class ChildProcess {
 public:
  /// Errors: kUnavailable when no process can be made; a program that cannot be run ends at once
  /// with status 127 and says why on its stderr.
  static Result<ChildProcess> Start(const CommandLine& command);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Kills and reaps what still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  /// Non-blocking read ends; the caller owns and closes them. Each is given away once, then -1.
  int TakeOutput();
  int TakeErrors();

  /// SIGKILL to the whole group. Harmless after the end.
  void Kill();

  /// How the child ended, once it has: "exited with status 3", "was ended by signal 9 (Killed)".
  /// What is left of its group is killed then.
  std::optional<std::string> Ended();

  /// REQUIRES: Ended() has returned a value.
  bool succeeded() const { return succeeded_; }

 private:
  ChildProcess(pid_t pid, int output, int errors) : pid_(pid), output_(output), errors_(errors) {}

  pid_t pid_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::optional<std::string> ended_;
  bool succeeded_ = false;
};

}  // namespace gpuadvise
