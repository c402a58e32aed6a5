#include "daemon/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace gpuadvise {
namespace {

constexpr int kReapTries = 100;
constexpr std::chrono::milliseconds kReapPause{10};

/// Everything the child needs, made before fork(): between fork and exec nothing may allocate.
struct ExecPlan {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::vector<std::string> storage;
};

std::string_view NameOf(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

ExecPlan PlanFor(const CommandLine& command) {
  ExecPlan plan;
  plan.storage = command.environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool overridden = false;
    for (const std::string& ours : command.environment) {
      overridden = overridden || NameOf(ours) == NameOf(*entry);
    }
    // The service manager's socket is for the daemon alone.
    const bool manager = NameOf(*entry) == "NOTIFY_SOCKET" || NameOf(*entry) == "WATCHDOG_PID";
    if (!overridden && !manager) plan.storage.emplace_back(*entry);
  }
  for (std::string& entry : plan.storage) plan.environment.push_back(entry.data());
  plan.environment.push_back(nullptr);
  for (const std::string& argument : command.arguments) {
    plan.arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  plan.arguments.push_back(nullptr);
  return plan;
}

void SayAndLeave(const char* program) {
  const char* reason = strerrordesc_np(errno);
  for (const char* part : {"cannot run ", program, ": ", reason, "\n"}) {
    if (part != nullptr && write(STDERR_FILENO, part, strlen(part)) < 0) break;
  }
  _exit(127);
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void BecomeChild(ExecPlan& plan, int output, int errors, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the daemon died in between
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  close_range(3, ~0U, 0);
  ResetSignals();
  execve(plan.arguments[0], plan.arguments.data(), plan.environment.data());
  SayAndLeave(plan.arguments[0]);
  _exit(127);
}

using Pipe = std::array<int, 2>;

void ClosePipe(const Pipe& pipe) {
  close(pipe[0]);
  close(pipe[1]);
}

tl::unexpected<Error> NoProcess(int error) {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("no process for the collector could be made: {}", strerror(error)));
}

Result<Pipe> MakePipe() {
  Pipe ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return NoProcess(errno);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return ends;
}

std::string HowItEnded(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return fmt::format("was ended by signal {} ({})", number, strsignal(number));
}

}  // namespace

Result<ChildProcess> ChildProcess::Start(const CommandLine& command) {
  Result<Pipe> output = MakePipe();
  if (!output) return tl::unexpected<Error>(std::move(output.error()));
  Result<Pipe> errors = MakePipe();
  if (!errors) {
    ClosePipe(*output);
    return tl::unexpected<Error>(std::move(errors.error()));
  }
  ExecPlan plan = PlanFor(command);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeChild(plan, (*output)[1], (*errors)[1], parent);
  const int fork_error = errno;
  close((*output)[1]);
  close((*errors)[1]);
  if (pid < 0) {
    close((*output)[0]);
    close((*errors)[0]);
    return NoProcess(fork_error);
  }
  setpgid(pid, pid);  // also here, so that the group exists before anybody kills it
  return ChildProcess(pid, (*output)[0], (*errors)[0]);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      ended_(std::move(other.ended_)),
      succeeded_(other.succeeded_) {}

ChildProcess::~ChildProcess() {
  if (output_ >= 0) close(output_);
  if (errors_ >= 0) close(errors_);
  if (pid_ <= 0 || ended_) return;
  Kill();
  // A killed process is gone in a moment; one that hangs in the kernel is left behind, not waited
  // for.
  for (int tries = 0; tries < kReapTries && waitpid(pid_, nullptr, WNOHANG) == 0; ++tries) {
    std::this_thread::sleep_for(kReapPause);
  }
}

int ChildProcess::TakeOutput() { return std::exchange(output_, -1); }
int ChildProcess::TakeErrors() { return std::exchange(errors_, -1); }

void ChildProcess::Kill() {
  if (pid_ > 0 && !ended_) kill(-pid_, SIGKILL);
}

std::optional<std::string> ChildProcess::Ended() {
  if (ended_) return ended_;
  siginfo_t info{};
  // Looked at without reaping first: while the dead leader keeps its id, the group's is safe too.
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  Kill();
  int status = 0;
  waitpid(pid_, &status, 0);
  succeeded_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  ended_ = HowItEnded(status);
  return ended_;
}

}  // namespace gpuadvise
