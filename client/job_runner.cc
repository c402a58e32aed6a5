#include "client/job_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace gpuadvise {
namespace {

constexpr size_t kMaxOutputBytes = 1 << 20;

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

tl::unexpected<Error> CannotRun(const std::string& program, int error) {
  return Fail(ErrorCode::kInternal, program + " could not be run: " + std::strerror(error));
}

// Feeds and drains the child at once: neither side can block the other.
std::string Exchange(Pipe* to_child, Pipe* from_child, std::string_view input) {
  std::string output;
  ::fcntl(to_child->write_end, F_SETFL, O_NONBLOCK);
  while (from_child->read_end >= 0) {
    if (input.empty()) Pipe::Close(&to_child->write_end);
    pollfd waiting[2] = {{from_child->read_end, POLLIN, 0}, {to_child->write_end, POLLOUT, 0}};
    if (::poll(waiting, 2, -1) < 0 && errno != EINTR) break;
    if (waiting[1].revents != 0) {
      const ssize_t sent = ::write(to_child->write_end, input.data(), input.size());
      if (sent > 0) input.remove_prefix(static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) input = {};  // the child stopped reading
    }
    if (waiting[0].revents == 0) continue;
    char buffer[4096];
    const ssize_t got = ::read(from_child->read_end, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR)) Pipe::Close(&from_child->read_end);
    if (got > 0 && output.size() < kMaxOutputBytes) output.append(buffer, static_cast<size_t>(got));
  }
  return output;
}

Result<void> WaitFor(pid_t child, const std::string& program) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return CannotRun(program, errno);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  return Fail(ErrorCode::kInternal, program + " failed (" + how + ")");
}

int Spawn(const std::string& program, const std::vector<std::string>& arguments, const Pipe& input,
          const Pipe& output, ChildErrors errors, pid_t* child) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.read_end, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
  if (errors == ChildErrors::kDiscarded) {
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  const int result = ::posix_spawn(child, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return result;
}

}  // namespace

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

Result<std::string> RunProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& input,
                               ChildErrors errors) {
  Pipe to_child;
  Pipe from_child;
  if (to_child.read_end < 0 || from_child.read_end < 0) return CannotRun(program, errno);
  std::signal(SIGPIPE, SIG_IGN);  // a child that ends early is told by its exit status
  pid_t child = 0;
  if (int error = Spawn(program, arguments, to_child, from_child, errors, &child); error != 0) {
    return CannotRun(program, error);
  }
  Pipe::Close(&to_child.read_end);
  Pipe::Close(&from_child.write_end);
  std::string output = Exchange(&to_child, &from_child, input);
  if (Result<void> ended = WaitFor(child, program); !ended) {
    return tl::unexpected<Error>(ended.error());
  }
  return output;
}

Result<std::string> SbatchRunner::Submit(const std::vector<std::string>& arguments,
                                         const std::string& script) {
  const std::string sbatch = FindInPath("sbatch", std::getenv("PATH"));
  if (sbatch.empty()) {
    return Fail(ErrorCode::kInternal,
                "sbatch is not in PATH; run this on a login node of the cluster, or use --dry-run");
  }
  return RunProgram(sbatch, arguments, script, ChildErrors::kInherited);
}

}  // namespace gpuadvise
