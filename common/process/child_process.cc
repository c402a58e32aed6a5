#include "common/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace gpuadvise {
namespace {

constexpr int kNotRunStatus = 127;  // as in a shell
constexpr int kReapTries = 100;
constexpr int kReapPauseMicroseconds = 10'000;

// Arguments of exec(), prepared before fork(): no allocation is allowed in between.
struct ExecPlan {
  explicit ExecPlan(const Command& command);

  std::vector<std::string> storage;
  std::vector<char*> words;
  std::vector<char*> environment;
};

std::string_view NameOf(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

ExecPlan::ExecPlan(const Command& command) : storage(command.words) {
  for (const std::string& entry : command.environment) {
    if (entry.find('=') != std::string::npos) storage.push_back(entry);
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool replaced =
        std::any_of(command.environment.begin(), command.environment.end(),
                    [&](const std::string& ours) { return NameOf(ours) == NameOf(*entry); });
    if (!replaced) storage.emplace_back(*entry);
  }
  for (size_t i = 0; i < storage.size(); ++i) {
    (i < command.words.size() ? words : environment).push_back(storage[i].data());
  }
  words.push_back(nullptr);
  environment.push_back(nullptr);
}

// The child's pipe ends, closed in the parent with this object.
struct ChildsEnds {
  Descriptor nothing, input, output, errors, exec_error;
};

bool OpenPipe(Descriptor& read_end, Descriptor& write_end, Descriptor& ours) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  read_end = Descriptor(ends[0]);
  write_end = Descriptor(ends[1]);
  return ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

// Descriptors that become 0, 1 and 2 in the child (-1: unchanged), and the one that reports exec
// errors.
using Streams = std::array<int, 4>;

Streams StreamsOf(const ChildsEnds& ends, const ChildOptions& options) {
  const int input = options.input == ChildInput::kNothing ? ends.nothing.get() : ends.input.get();
  int errors = ends.errors.get();
  if (options.errors == ChildErrors::kTogether) errors = ends.output.get();
  if (options.errors == ChildErrors::kDiscarded) errors = ends.nothing.get();
  return {input, ends.output.get(), errors, ends.exec_error.get()};
}

// Returns the descriptor that reports exec errors.
int PlaceDescriptors(Streams streams, bool keeps_others) {
  // Moves low numbers, which may be reused for 0, 1 and 2, out of the way.
  for (int& stream : streams) {
    if (stream >= 0 && stream <= 3) stream = ::fcntl(stream, F_DUPFD_CLOEXEC, 4);
  }
  for (int number = 0; number < 3; ++number) {
    const int stream = streams[static_cast<size_t>(number)];
    if (stream >= 0) ::dup2(stream, number);
  }
  if (keeps_others) return streams[3];
  const int told = ::dup3(streams[3], 3, O_CLOEXEC);
  ::close_range(4, ~0U, 0);
  return told;
}

[[noreturn]] void BecomeProgram(const ExecPlan& plan, const ChildOptions& options, Streams streams,
                                pid_t parent) {
  if (options.group != ChildGroup::kOurs) ::setpgid(0, 0);
  if (options.dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kNotRunStatus);  // the parent died in between
  }
  const int told = PlaceDescriptors(streams, options.keeps_descriptors);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &options.blocked, nullptr);
  ::execvpe(plan.words.front(), plan.words.data(), plan.environment.data());
  const int error = errno;
  if (::write(told, &error, sizeof error) < 0) ::_exit(kNotRunStatus);
  ::_exit(kNotRunStatus);
}

// Returns -1 with errno on failure. Starts with all signals blocked, so that no handler of ours
// runs in the child.
pid_t Fork(const ExecPlan& plan, const ChildOptions& options, const Streams& streams) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeProgram(plan, options, streams, parent);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// With SIGCHLD ignored, the kernel discards a child's status.
void ResetChildSignal() {
  struct sigaction now {};
  if (::sigaction(SIGCHLD, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) {
    ::signal(SIGCHLD, SIG_DFL);
  }
}

}  // namespace

std::string InWords(const ChildEnd& end) {
  if (end.signal == 0) return fmt::format("exited with status {}", end.exit_code);
  return fmt::format("was ended by signal {} ({})", end.signal, ::strsignal(end.signal));
}

tl::expected<ChildProcess, int> ChildProcess::Start(const Command& command,
                                                    const ChildOptions& options) {
  ChildProcess child(options.group);
  ChildsEnds ends;
  ends.nothing = Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const bool open =
      ends.nothing && OpenPipe(child.output_, ends.output, child.output_) &&
      OpenPipe(child.exec_error_, ends.exec_error, child.exec_error_) &&
      (options.input != ChildInput::kPipe || OpenPipe(ends.input, child.input_, child.input_)) &&
      (options.errors != ChildErrors::kPipe || OpenPipe(child.errors_, ends.errors, child.errors_));
  if (!open) return tl::unexpected<int>(errno);
  ResetChildSignal();
  const ExecPlan plan(command);
  child.pid_ = Fork(plan, options, StreamsOf(ends, options));
  if (child.pid_ < 0) return tl::unexpected<int>(errno);
  // Also set here, so that the group exists before anyone signals it.
  if (options.group != ChildGroup::kOurs) ::setpgid(child.pid_, child.pid_);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      group_(other.group_),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      exec_error_(std::move(other.exec_error_)),
      end_(other.end_) {}

ChildProcess::~ChildProcess() {
  Kill();
  for (int tries = 0; pid_ > 0 && !Ended() && tries < kReapTries; ++tries) {
    ::usleep(kReapPauseMicroseconds);
  }
}

void ChildProcess::Signal(int number) {
  if (pid_ > 0 && !end_) ::kill(group_ == ChildGroup::kOurs ? pid_ : -pid_, number);
}

bool ChildProcess::WasStopped() const {
  siginfo_t info{};
  return !end_ && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
         info.si_pid == pid_;
}

std::optional<ChildEnd> ChildProcess::Ended() {
  if (end_) return end_;
  siginfo_t info{};
  // Peeks without reaping: the dead leader's id keeps the group's id reserved.
  const bool ours =
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (ours && info.si_pid == 0) return std::nullopt;
  if (ours && group_ == ChildGroup::kOwnAndEndsWithIt) Kill();
  int status = kNotRunStatus << 8;  // if something else has reaped it
  if (ours) ::waitpid(pid_, &status, 0);
  end_.emplace();
  end_->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end_->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  int error = 0;
  if (::read(exec_error_.get(), &error, sizeof error) == sizeof error) end_->exec_error = error;
  return end_;
}

}  // namespace gpuadvise
