#include "client/process/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

extern char** environ;

namespace gpuadvise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxOutputBytes = 1 << 20;
constexpr auto kTimeToDie = std::chrono::seconds(1);  // a process stuck in a file system stays

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    Close(&read_end);
    Close(&write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  static void Close(int* fd) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
};

/// When to give up; never where it holds nothing.
using Deadline = std::optional<Clock::time_point>;

Deadline DeadlineOf(const ProgramCall& call) {
  if (call.deadline_seconds <= 0) return {};
  return Clock::now() +
         std::chrono::milliseconds(static_cast<int64_t>(call.deadline_seconds * 1e3));
}

int MillisecondsLeft(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

tl::unexpected<Error> CannotRun(const std::string& program, int error) {
  return Fail(ErrorCode::kInternal, program + " could not be run: " + std::strerror(error));
}

// Feeds and drains the child at once: neither side can block the other. False: the deadline came.
bool Exchange(Pipe* to_child, Pipe* from_child, std::string_view input, const Deadline& deadline,
              std::string* output) {
  ::fcntl(to_child->write_end, F_SETFL, O_NONBLOCK);
  while (from_child->read_end >= 0) {
    if (input.empty()) Pipe::Close(&to_child->write_end);
    pollfd waiting[2] = {{from_child->read_end, POLLIN, 0}, {to_child->write_end, POLLOUT, 0}};
    const int ready = ::poll(waiting, 2, MillisecondsLeft(deadline));
    if (ready < 0 && errno != EINTR) break;
    if (deadline && Clock::now() >= *deadline) return false;
    if (ready <= 0) continue;
    if (waiting[1].revents != 0) {
      const ssize_t sent = ::write(to_child->write_end, input.data(), input.size());
      if (sent > 0) input.remove_prefix(static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) input = {};  // the child stopped reading
    }
    if (waiting[0].revents == 0) continue;
    char buffer[4096];
    const ssize_t got = ::read(from_child->read_end, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR)) Pipe::Close(&from_child->read_end);
    if (got > 0 && output->size() < kMaxOutputBytes) {
      output->append(buffer, static_cast<size_t>(got));
    }
  }
  return true;
}

// Its own process group where there is a deadline, so that its children end with it.
void KillGroup(pid_t child) {
  ::kill(-child, SIGKILL);
  const Clock::time_point last = Clock::now() + kTimeToDie;
  while (::waitpid(child, nullptr, WNOHANG) == 0 && Clock::now() < last) ::usleep(10'000);
}

tl::unexpected<Error> TooSlow(const ProgramCall& call, pid_t child) {
  KillGroup(child);
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} did not answer within {:g} s", call.program, call.deadline_seconds));
}

// A program may close its output long before it ends: the deadline counts here too.
bool HasEnded(pid_t child, const Deadline& deadline, int* status) {
  for (;;) {
    const pid_t ended = ::waitpid(child, status, deadline ? WNOHANG : 0);
    if (ended == child || (ended < 0 && errno != EINTR)) return true;
    if (deadline && Clock::now() >= *deadline) return false;
    if (deadline) ::usleep(5'000);
  }
}

std::string FailureOf(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                           : "signal " + std::to_string(WTERMSIG(status));
}

int Spawn(const ProgramCall& call, const Pipe& input, const Pipe& output, pid_t* child) {
  std::vector<char*> argv = {const_cast<char*>(call.program.c_str())};
  for (const std::string& argument : call.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input.read_end, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
  if (call.errors == ChildErrors::kDiscarded) {
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  if (call.errors == ChildErrors::kTogether) {
    ::posix_spawn_file_actions_adddup2(&actions, output.write_end, STDERR_FILENO);
  }
  if (call.deadline_seconds > 0) ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int result =
      ::posix_spawn(child, call.program.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return result;
}

}  // namespace

Result<ProgramEnd> RunToItsEnd(const ProgramCall& call) {
  Pipe to_child;
  Pipe from_child;
  if (to_child.read_end < 0 || from_child.read_end < 0) return CannotRun(call.program, errno);
  std::signal(SIGPIPE, SIG_IGN);  // a child that ends early is told by its exit status
  const Deadline deadline = DeadlineOf(call);
  pid_t child = 0;
  if (int error = Spawn(call, to_child, from_child, &child); error != 0) {
    return CannotRun(call.program, error);
  }
  Pipe::Close(&to_child.read_end);
  Pipe::Close(&from_child.write_end);
  ProgramEnd end;
  int status = 0;
  if (!Exchange(&to_child, &from_child, call.input, deadline, &end.output) ||
      !HasEnded(child, deadline, &status)) {
    return TooSlow(call, child);
  }
  end.failure = FailureOf(status);
  return end;
}

Result<std::string> RunProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& input,
                               ChildErrors errors) {
  Result<ProgramEnd> end = RunToItsEnd({program, arguments, input, errors, 0});
  if (!end) return tl::unexpected<Error>(std::move(end.error()));
  if (end->failure.empty()) return std::move(end->output);
  return Fail(ErrorCode::kInternal, program + " failed (" + end->failure + ")");
}

std::string FindInPath(const std::string& name, const char* path) {
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  for (;;) {
    const size_t colon = rest.find(':');
    const std::string directory(rest.substr(0, colon));
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace gpuadvise
