#include "client/run/watched_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

extern char** environ;

namespace gpuadvise {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMaxLine = 64 << 10;
constexpr milliseconds kLastWords{300};  // for what background processes still write

/// Signals that are passed on; SIGCHLD and SIGWINCH come to us alone.
constexpr std::array<int, 6> kPassedOn = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/// One of the command's two outputs: from its pipe to our own, cut into lines beside.
class Relay {
 public:
  explicit Relay(int to) : to_(to) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      from_ = ends[0];
      childs_ = ends[1];
      ::fcntl(from_, F_SETFL, O_NONBLOCK);
    }
  }
  ~Relay() {
    CloseChilds();
    CloseOurs();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  bool ok() const { return childs_ >= 0; }
  bool open() const { return from_ >= 0; }
  int from() const { return from_; }
  int childs() const { return childs_; }
  void CloseChilds() {
    if (childs_ >= 0) ::close(childs_);
    childs_ = -1;
  }

  /// Takes what is there; true when there was something.
  bool Pump(Watcher& watcher) {
    std::array<char, 16 << 10> buffer;
    const ssize_t got = ::read(from_, buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
      if (!line_.empty()) watcher.OnLine(line_);
      line_.clear();
      CloseOurs();
      return false;
    }
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    PassOn(bytes);
    Cut(bytes, watcher);
    return true;
  }

 private:
  void CloseOurs() {
    if (from_ >= 0) ::close(from_);
    from_ = -1;
  }
  // A full disk or a reader that left must not end the training.
  void PassOn(std::string_view bytes) {
    while (!bytes.empty() && !lost_) {
      const ssize_t sent = ::write(to_, bytes.data(), bytes.size());
      if (sent > 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
      } else if (errno == EAGAIN) {
        pollfd ready{to_, POLLOUT, 0};
        ::poll(&ready, 1, -1);
      } else if (errno != EINTR) {
        lost_ = errno == EPIPE || errno == EBADF;  // a disk may have room again
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

  int to_;
  int from_ = -1;
  int childs_ = -1;
  bool lost_ = false;
  std::string line_;
};

/// Blocks the signals that we handle while it lives; remembers what was before.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t ours;
    ::sigemptyset(&ours);
    for (const int signal : kPassedOn) ::sigaddset(&ours, signal);
    ::sigaddset(&ours, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &ours, &before_);
    fd_ = ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    pipe_before_ = std::signal(SIGPIPE, SIG_IGN);
    terminal_before_ = std::signal(SIGTTOU, SIG_IGN);
  }
  ~BlockedSignals() {
    if (fd_ >= 0) ::close(fd_);
    std::signal(SIGPIPE, pipe_before_);
    std::signal(SIGTTOU, terminal_before_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  int fd() const { return fd_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  int fd_ = -1;
  void (*pipe_before_)(int) = SIG_DFL;
  void (*terminal_before_)(int) = SIG_DFL;
};

/// Our environment with `more` on top, as exec takes it.
std::vector<std::string> EnvironmentWith(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : more) all[name] = value;
  std::vector<std::string> list;
  for (const auto& [name, value] : all) list.push_back(name + "=" + value);
  return list;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> Start(std::vector<std::string> command, const WatchedOptions& options,
                    const sigset_t& mask, Relay& out, Relay& error) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, out.childs(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, error.childs(), STDERR_FILENO);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  for (const int signal : kPassedOn) ::sigaddset(&defaults, signal);
  for (const int signal : {SIGPIPE, SIGTTOU, SIGCHLD}) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> environment = EnvironmentWith(options.environment);
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, command.front().c_str(), &actions, &attributes,
                                    Pointers(command).data(), Pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed == 0) return child;
  const auto code = failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInternal;
  return Fail(code, fmt::format("{} could not be run: {}", command.front(), std::strerror(failed)));
}

class Supervision {
 public:
  Supervision(pid_t child, const WatchedOptions& options, BlockedSignals& signals, Relay& out,
              Relay& error, Watcher& watcher)
      : child_(child),
        options_(options),
        signals_(signals),
        out_(out),
        error_(error),
        watcher_(watcher),
        next_tick_(Clock::now() + options.tick) {}

  CommandEnd Wait() {
    while (!ended_) {
      Poll(std::chrono::duration_cast<milliseconds>(NextEvent() - Clock::now()));
      TakeSignals();
      Reap();
      if (!ended_) Act();
    }
    // Background processes may hold the pipes: what they say now still counts, later words do not.
    while ((out_.open() || error_.open()) && Poll(kLastWords)) {
    }
    return end_;
  }

 private:
  Clock::time_point NextEvent() const {
    return kill_at_ ? std::min(*kill_at_, next_tick_) : next_tick_;
  }

  /// True when an output had something.
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
      // Slurm may have told all processes of the step by itself (scancel) or us alone
      // (--signal=B:): told twice is better than never.
      const auto signal = static_cast<int>(info.ssi_signo);
      // A word to the command itself would end those of its processes that do not know it.
      const bool is_a_word = signal == SIGUSR1 || signal == SIGUSR2;
      end_.told_to_end = end_.told_to_end || !is_a_word;
      ::kill(is_a_word ? child_ : -child_, signal);
    }
  }

  void Reap() {
    int status = 0;
    const pid_t reaped = ::waitpid(child_, &status, WNOHANG | WUNTRACED);
    if (reaped != child_) return;
    if (WIFSTOPPED(status)) {  // as a shell would: we stop too, and go on together
      ::raise(SIGSTOP);
      GiveTerminal(child_);
      ::kill(-child_, SIGCONT);
      return;
    }
    ended_ = true;
    end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (end_.stopped) ::kill(-child_, SIGKILL);  // ranks that outlived their launcher
  }

  void Act() {
    const auto now = Clock::now();
    if (kill_at_ && now >= *kill_at_) {
      ::kill(-child_, SIGKILL);
      kill_at_.reset();
    }
    if (now >= next_tick_) {
      watcher_.OnTick();
      next_tick_ = now + options_.tick;
    }
    if (end_.stopped || !watcher_.WantsEnd()) return;
    end_.stopped = true;
    ::kill(-child_, SIGTERM);
    kill_at_ = now + options_.grace;
  }

 public:
  /// Lets `group` read from the terminal, where we have one in the foreground.
  static void GiveTerminal(pid_t group) {
    if (::isatty(STDIN_FILENO) != 0) ::tcsetpgrp(STDIN_FILENO, group);
  }

 private:
  pid_t child_;
  const WatchedOptions& options_;
  BlockedSignals& signals_;
  Relay& out_;
  Relay& error_;
  Watcher& watcher_;
  Clock::time_point next_tick_;
  std::optional<Clock::time_point> kill_at_;
  bool ended_ = false;
  CommandEnd end_;
};

}  // namespace

Result<CommandEnd> RunWatched(const std::vector<std::string>& command,
                              const WatchedOptions& options, Watcher& watcher) {
  Relay out(STDOUT_FILENO);
  Relay error(STDERR_FILENO);
  BlockedSignals signals;
  if (!out.ok() || !error.ok() || signals.fd() < 0) {
    return Fail(ErrorCode::kInternal,
                fmt::format("{} could not be watched: {}", command.front(), std::strerror(errno)));
  }
  const pid_t our_group = ::getpgrp();
  const bool foreground = ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == our_group;
  Result<pid_t> child = Start(command, options, signals.before(), out, error);
  if (!child) return tl::unexpected<Error>(child.error());
  if (foreground) Supervision::GiveTerminal(*child);
  out.CloseChilds();
  error.CloseChilds();
  const CommandEnd end = Supervision(*child, options, signals, out, error, watcher).Wait();
  if (foreground) Supervision::GiveTerminal(our_group);
  return end;
}

}  // namespace gpuadvise
