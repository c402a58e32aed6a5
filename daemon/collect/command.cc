#include "daemon/collect/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace gpuadvise {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMaxErrorBytes = 4096;
constexpr int kNoProgram = 127;  // as the shell says it

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Pipes {
  Descriptor out, out_child, error, error_child;

  bool Open() { return OpenOne(out, out_child) && OpenOne(error, error_child); }

 private:
  static bool OpenOne(Descriptor& ours, Descriptor& childs) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    ours.Reset(ends[0]);
    childs.Reset(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return true;
  }
};

tl::unexpected<Error> Cannot(const Command& command, std::string_view why) {
  return Fail(ErrorCode::kUnavailable, fmt::format("{} {}", command.words.front(), why));
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string NameOf(std::string_view assignment) {
  return std::string(assignment.substr(0, assignment.find('=') + 1));
}

/// This process's environment with the command's own names replaced.
std::vector<std::string> Environment(const Command& command) {
  std::vector<std::string> all = command.environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const std::string& own : command.environment) {
      replaced = replaced || std::string_view(*entry).starts_with(NameOf(own));
    }
    if (!replaced) all.emplace_back(*entry);
  }
  return all;
}

/// What the child does between fork and exec; only what a signal handler may.
[[noreturn]] void BecomeProgram(const Pipes& pipes, char* const* words, char* const* environment,
                                pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNoProgram);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(pipes.out_child.get(), STDOUT_FILENO);
  ::dup2(pipes.error_child.get(), STDERR_FILENO);
  ::execvpe(words[0], words, environment);
  ::_exit(kNoProgram);
}

/// The process id, -1 when there can be no other process. The program dies with this thread and
/// stays in its process group, so that whoever ends this program as a whole ends that one too.
pid_t Spawn(const Command& command, const Pipes& pipes) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = Environment(command);
  const std::vector<char*> word_pointers = Pointers(words);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeProgram(pipes, word_pointers.data(), environment_pointers.data(), parent);
  return pid;
}

/// Appends what can be read now, up to `limit` bytes in all. False at the end of the stream.
bool Drain(Descriptor& from, std::string& to, size_t limit) {
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
    if (n > 0) {
      to.append(buffer.data(), std::min<size_t>(static_cast<size_t>(n), limit - to.size()));
      if (to.size() == limit) return true;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    from.Close();
    return false;
  }
}

struct Output {
  std::string out, error;
  bool late = false, too_much = false;
};

Output ReadAll(const Command& command, Pipes& pipes, Clock::time_point deadline) {
  Output output;
  while (pipes.out.open() || pipes.error.open()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    output.late = left <= 0;
    if (output.late) return output;
    std::array<pollfd, 2> wait = {{{pipes.out.get(), POLLIN, 0}, {pipes.error.get(), POLLIN, 0}}};
    ::poll(wait.data(), wait.size(), static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (pipes.out.open()) Drain(pipes.out, output.out, command.max_output_bytes);
    output.too_much = output.out.size() >= command.max_output_bytes;
    if (output.too_much) return output;
    if (!pipes.error.open()) continue;
    Drain(pipes.error, output.error, kMaxErrorBytes);
    if (output.error.size() >= kMaxErrorBytes) pipes.error.Close();
  }
  return output;
}

/// The exit status; a process that closed its output but does not end is killed at the deadline.
int Wait(pid_t pid, Clock::time_point deadline, bool kill_now) {
  int status = 0;
  if (kill_now) ::kill(pid, SIGKILL);
  while (true) {
    const pid_t done = ::waitpid(pid, &status, kill_now ? 0 : WNOHANG);
    if (done == pid) return status;
    if (done < 0 && errno != EINTR) return -1;
    if (done == 0 && Clock::now() >= deadline) {
      ::kill(pid, SIGKILL);
      kill_now = true;
    } else if (done == 0) {
      ::poll(nullptr, 0, 1);
    }
  }
}

std::string FirstLine(std::string_view text) {
  const size_t end = text.find('\n');
  return std::string(text.substr(0, std::min<size_t>(end, 300)));
}

}  // namespace

Result<std::string> RunCommand(const Command& command) {
  Pipes pipes;
  if (!pipes.Open()) return Cannot(command, fmt::format("has no pipe: {}", std::strerror(errno)));
  const auto deadline = Clock::now() + command.deadline;
  const pid_t pid = Spawn(command, pipes);
  pipes.out_child.Close();
  pipes.error_child.Close();
  if (pid < 0) return Cannot(command, fmt::format("cannot be started: {}", std::strerror(errno)));

  Output output = ReadAll(command, pipes, deadline);
  const int status = Wait(pid, deadline, output.late || output.too_much);
  if (output.late) {
    return Cannot(command,
                  fmt::format("did not answer within {} s", command.deadline.count() / 1000.0));
  }
  if (output.too_much)
    return Cannot(command, "printed more than can be right; its answer is dropped");
  if (!WIFEXITED(status)) return Cannot(command, "was ended by a signal");
  if (WEXITSTATUS(status) == kNoProgram && output.error.empty()) {
    return Cannot(command, "cannot be run; is it installed and in PATH?");
  }
  if (WEXITSTATUS(status) != 0) {
    return Cannot(command, fmt::format("ended with status {}: {}", WEXITSTATUS(status),
                                       FirstLine(output.error)));
  }
  return std::move(output.out);
}

}  // namespace gpuadvise
