// Runs another program as a child process: the only place that forks.
//
// The child has default signal handlers, blocks only requested signals, and inherits only
// descriptors 0, 1 and 2 unless asked. Its streams can be pipes; our ends do not block. A running
// child is killed and reaped when its object is destroyed. One thread at a time per child; nothing
// blocks but the destructor: up to a second if the child hangs in the kernel.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "common/process/descriptor.h"

namespace gpuadvise {

struct Command {
  std::vector<std::string> words;        // program (a path, or looked up in PATH) and arguments
  std::vector<std::string> environment;  // changes to ours: "NAME=VALUE" sets, "NAME" removes
};

enum class ChildInput { kNothing, kPipe, kInherited };
// Standard error: its own pipe, the output's pipe, ours, or discarded.
enum class ChildErrors { kPipe, kTogether, kInherited, kDiscarded };
// Process group: ours, so that ending our group ends it; or its own, optionally killed as a whole
// when the child ends.
enum class ChildGroup { kOurs, kOwn, kOwnAndEndsWithIt };

struct ChildOptions {
  ChildInput input = ChildInput::kNothing;
  ChildErrors errors = ChildErrors::kPipe;
  ChildGroup group = ChildGroup::kOwn;
  bool dies_with_us = false;       // killed by the kernel when the starting thread ends
  bool keeps_descriptors = false;  // our descriptors without O_CLOEXEC stay open
  sigset_t blocked{};
};

// How a child ended: exit(code), or a signal.
struct ChildEnd {
  int exit_code = 0;
  int signal = 0;      // 0: it exited
  int exec_error = 0;  // errno if the program could not be run: exit_code is 127

  bool ok() const { return exit_code == 0 && signal == 0; }
};

// "exited with status 3", "was ended by signal 9 (Killed)".
std::string InWords(const ChildEnd& end);

class ChildProcess {
 public:
  // Errors: errno if no process can be created. If the program cannot be run, the child ends at
  // once with `exec_error`. REQUIRES: words is not empty.
  static tl::expected<ChildProcess, int> Start(const Command& command, const ChildOptions& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  // Our ends of its pipes, if any; may be closed or moved away.
  Descriptor& input() { return input_; }
  Descriptor& output() { return output_; }
  Descriptor& errors() { return errors_; }

  // Signals the whole group if the child has its own. Harmless after the end.
  void Signal(int number);
  void Kill() { Signal(SIGKILL); }

  // From now on its group is killed when it ends. REQUIRES: its own group.
  void EndGroupWithIt() { group_ = ChildGroup::kOwnAndEndsWithIt; }

  // Whether it was stopped (SIGSTOP, SIGTSTP) since the last call.
  bool WasStopped() const;

  // How it ended; nullopt while it runs.
  std::optional<ChildEnd> Ended();

 private:
  explicit ChildProcess(ChildGroup group) : group_(group) {}

  pid_t pid_ = -1;
  ChildGroup group_;
  Descriptor input_, output_, errors_;
  Descriptor exec_error_;  // receives the errno of exec(), or end of file
  std::optional<ChildEnd> end_;
};

}  // namespace gpuadvise
