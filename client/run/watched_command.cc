#include "client/run/watched_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

namespace gpuadvise::client {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMaxLine = 64 << 10;
constexpr milliseconds kLastWords{300};  // for last output of background processes

// Signals passed on; SIGCHLD and SIGWINCH are not.
constexpr std::array<int, 6> kPassedOn = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// One of the command's two outputs: passes it on and splits it into lines.
class Relay {
 public:
  Relay(Descriptor& from, int to) : from_(from), to_(to) {}

  bool open() const { return static_cast<bool>(from_); }
  int from() const { return from_.get(); }

  // Reads pending output; returns whether there was any.
  bool Pump(Watcher& watcher) {
    std::array<char, 16 << 10> buffer;
    const ssize_t got = ::read(from_.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
      if (!line_.empty()) watcher.OnLine(line_);
      line_.clear();
      from_.Close();
      return false;
    }
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    PassOn(bytes);
    Cut(bytes, watcher);
    return true;
  }

 private:
  // A full disk or a closed reader must not end the training.
  void PassOn(std::string_view bytes) {
    while (!bytes.empty() && !lost_) {
      const ssize_t sent = ::write(to_, bytes.data(), bytes.size());
      if (sent > 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
      } else if (errno == EAGAIN) {
        pollfd ready{to_, POLLOUT, 0};
        ::poll(&ready, 1, -1);
      } else if (errno != EINTR) {
        lost_ = errno == EPIPE || errno == EBADF;  // a full disk may recover
        return;
      }
    }
  }
  void Cut(std::string_view bytes, Watcher& watcher) {
    for (const char c : bytes) {
      const bool ends = c == '\n' || c == '\r';
      if (!ends) line_ += c;
      if ((ends && !line_.empty()) || line_.size() >= kMaxLine) {
        watcher.OnLine(line_);
        line_.clear();
      }
    }
  }

  Descriptor& from_;
  int to_;
  bool lost_ = false;
  std::string line_;
};

// Blocks the signals that we handle during its lifetime; has the previous mask.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t ours;
    ::sigemptyset(&ours);
    for (const int signal : kPassedOn) ::sigaddset(&ours, signal);
    ::sigaddset(&ours, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &ours, &before_);
    arrived_ = Descriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
    pipe_before_ = std::signal(SIGPIPE, SIG_IGN);
    terminal_before_ = std::signal(SIGTTOU, SIG_IGN);
  }
  ~BlockedSignals() {
    std::signal(SIGPIPE, pipe_before_);
    std::signal(SIGTTOU, terminal_before_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  int fd() const { return arrived_.get(); }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  Descriptor arrived_;
  void (*pipe_before_)(int) = SIG_DFL;
  void (*terminal_before_)(int) = SIG_DFL;
};

// Puts `group` in the terminal's foreground, if there is a terminal.
void GiveTerminal(pid_t group) {
  if (::isatty(STDIN_FILENO) != 0) ::tcsetpgrp(STDIN_FILENO, group);
}

class Supervision {
 public:
  Supervision(ChildProcess& child, const WatchedOptions& options, BlockedSignals& signals,
              Watcher& watcher)
      : child_(child),
        options_(options),
        signals_(signals),
        out_(child.output(), STDOUT_FILENO),
        error_(child.errors(), STDERR_FILENO),
        watcher_(watcher),
        next_tick_(Clock::now() + options.tick) {}

  CommandEnd Wait() {
    while (!ended_) {
      Poll(std::chrono::duration_cast<milliseconds>(NextEvent() - Clock::now()));
      TakeSignals();
      Reap();
      if (!ended_) Act();
    }
    // Background processes may hold the pipes: takes their output until it pauses.
    while ((out_.open() || error_.open()) && Poll(kLastWords)) {
    }
    return end_;
  }

 private:
  Clock::time_point NextEvent() const {
    return kill_at_ ? std::min(*kill_at_, next_tick_) : next_tick_;
  }

  // Waits for events; returns whether there was output or a signal interrupted the wait.
  bool Poll(milliseconds wait) {
    std::array<pollfd, 3> fds = {
        pollfd{signals_.fd(), POLLIN, 0}, {out_.from(), POLLIN, 0}, {error_.from(), POLLIN, 0}};
    const auto limit = std::clamp<int64_t>(wait.count(), 0, 60'000);
    if (::poll(fds.data(), fds.size(), static_cast<int>(limit)) < 0) return true;  // a signal
    bool any = false;
    if (out_.open() && fds[1].revents != 0) any = out_.Pump(watcher_) || any;
    if (error_.open() && fds[2].revents != 0) any = error_.Pump(watcher_) || any;
    return any;
  }

  void TakeSignals() {
    signalfd_siginfo info{};
    while (::read(signals_.fd(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGCHLD) continue;
      // Slurm signals either all processes of the step (scancel) or only us (--signal=B:). A
      // duplicate is better than none.
      const auto signal = static_cast<int>(info.ssi_signo);
      // SIGUSR1 and SIGUSR2 go to the command only: they would kill processes without a handler.
      const bool is_a_word = signal == SIGUSR1 || signal == SIGUSR2;
      end_.told_to_end = end_.told_to_end || !is_a_word;
      if (is_a_word) {
        ::kill(child_.pid(), signal);
      } else {
        child_.Signal(signal);
      }
    }
  }

  void Reap() {
    if (child_.WasStopped()) {  // like a shell: stop and continue together with it
      ::raise(SIGSTOP);
      GiveTerminal(child_.pid());
      child_.Signal(SIGCONT);
    }
    const std::optional<ChildEnd> end = child_.Ended();
    ended_ = end.has_value();
    if (end) static_cast<ChildEnd&>(end_) = *end;
  }

  void Act() {
    const auto now = Clock::now();
    if (kill_at_ && now >= *kill_at_) {
      child_.Kill();
      kill_at_.reset();
    }
    if (now >= next_tick_) {
      watcher_.OnTick();
      next_tick_ = now + options_.tick;
    }
    if (end_.stopped || !watcher_.WantsEnd()) return;
    end_.stopped = true;
    child_.EndGroupWithIt();  // includes ranks that outlive their launcher
    child_.Signal(SIGTERM);
    kill_at_ = now + options_.grace;
  }

  ChildProcess& child_;
  const WatchedOptions& options_;
  BlockedSignals& signals_;
  Relay out_;
  Relay error_;
  Watcher& watcher_;
  Clock::time_point next_tick_;
  std::optional<Clock::time_point> kill_at_;
  bool ended_ = false;
  CommandEnd end_;
};

}  // namespace

Result<CommandEnd> RunWatched(const std::vector<std::string>& command,
                              const WatchedOptions& options, Watcher& watcher) {
  const auto cannot = [&](int error) {
    return Fail(ErrorCode::kInternal, fmt::format("{} could not be monitored: {}", command.front(),
                                                  std::strerror(error)));
  };
  BlockedSignals signals;
  if (signals.fd() < 0) return cannot(errno);
  const pid_t our_group = ::getpgrp();
  const bool foreground = ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == our_group;
  ChildOptions child_options;
  child_options.input = ChildInput::kInherited;
  child_options.keeps_descriptors = true;  // MPI's launchers talk through one
  child_options.blocked = signals.before();
  auto child = ChildProcess::Start({command, options.environment}, child_options);
  if (!child) return cannot(child.error());
  if (foreground) GiveTerminal(child->pid());
  const CommandEnd end = Supervision(*child, options, signals, watcher).Wait();
  if (foreground) GiveTerminal(our_group);
  if (end.exec_error == 0) return end;
  const auto code = end.exec_error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInternal;
  return Fail(
      code, fmt::format("{} could not be run: {}", command.front(), std::strerror(end.exec_error)));
}

}  // namespace gpuadvise::client
