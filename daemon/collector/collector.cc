#include "daemon/collector/collector.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/slurm/snapshot_records.h"
#include "daemon/base/coroutines.h"
#include "daemon/base/line_splitter.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

constexpr size_t kReadBytes = 256u << 10;
constexpr size_t kMaxErrorLineBytes = 4096;
constexpr int kMaxErrorLinesLogged = 100;  // per child
constexpr milliseconds kReapPause{10};
constexpr int kReapTries = 500;

auto Into(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

asio::awaitable<CollectorProgress> TakeOnWorker(CollectorSink& sink, std::string_view bytes) {
  co_return sink.Feed(bytes);
}

asio::awaitable<void> BeginOnWorker(CollectorSink& sink) {
  sink.Begin();
  co_return;
}

std::string DurationWords(milliseconds duration) {
  return fmt::format("{:.3g} s", static_cast<double>(duration.count()) / 1000);
}

}  // namespace

// A running child and its state.
struct Collector::Child : std::enable_shared_from_this<Child> {
  Child(asio::io_context& io, const CollectorCandidate& candidate, ChildProcess started)
      : name(candidate.name),
        command(candidate.command),
        process(std::move(started)),
        output(io, process.output().Release()),
        errors(io, process.errors().Release()),
        silence(io) {}

  void Kill(std::string why) {
    if (killed_because.empty()) killed_because = std::move(why);
    process.Kill();
  }

  // Logs its stderr; the last line may be the cause of a failure.
  void TakeErrors(std::string_view bytes) {
    error_lines.Feed(bytes, [this](std::string_view line) {
      if (line.empty()) return;
      last_words = OneLine(line, kMaxMessageBytes);
      if (errors_logged == kMaxErrorLinesLogged) return;
      spdlog::warn("{}: {}", name, last_words);
      if (++errors_logged == kMaxErrorLinesLogged)
        spdlog::warn("{}: its further lines are not logged", name);
    });
  }

  void ReadErrors() {
    errors.async_read_some(asio::buffer(error_buffer),
                           [self = shared_from_this()](error_code error, size_t count) {
                             self->TakeErrors({self->error_buffer.data(), count});
                             if (!error) self->ReadErrors();
                           });
  }

  // Reads the rest of the pipe after the child has ended.
  void DrainErrors() {
    for (;;) {
      const ssize_t count = read(errors.native_handle(), error_buffer.data(), error_buffer.size());
      if (count <= 0) break;
      TakeErrors({error_buffer.data(), static_cast<size_t>(count)});
    }
    if (!error_lines.rest().empty()) TakeErrors("\n");
    const auto end = process.Ended();
    if (end && end->exec_error != 0) TakeErrors(CannotRun(command, end->exec_error) + "\n");
  }

  // Why it ended, as one sentence without a full stop.
  std::string Cause() {
    if (!killed_because.empty() && killed_because != reported) {
      return fmt::format("{} was ended: {}", name, killed_because);
    }
    if (!reported.empty()) return fmt::format("{}: {}", name, reported);
    const auto end = process.Ended();
    const std::string how = end ? InWords(*end) : "does not end";
    return fmt::format("{} {}{}{}", name, how, last_words.empty() ? "" : ": ", last_words);
  }

  const std::string name;
  const Command command;
  ChildProcess process;
  asio::posix::stream_descriptor output;
  asio::posix::stream_descriptor errors;
  asio::steady_timer silence;
  std::array<char, 4096> error_buffer{};
  LineSplitter error_lines{kMaxErrorLineBytes};
  int errors_logged = 0;
  std::string last_words;
  std::string reported;        // the last error among its records
  std::string killed_because;  // "": not killed
  bool delivered = false;
};

struct Collector::End {
  std::string cause;
  bool delivered = false;
  bool finished = false;  // ended without failure
};

ProgramCall CollectorCall(const Command& command) {
  ProgramCall call;
  call.command = command;
  for (const char* managers : {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}) {
    call.command.environment.emplace_back(managers);
  }
  call.child.group = ChildGroup::kOwnAndEndsWithIt;
  call.child.dies_with_us = true;
  return call;
}

std::string CannotRun(const Command& command, int error) {
  return fmt::format("cannot run {}: {}", command.words.front(), strerror(error));
}

bool operator==(const CollectorPlan& a, const CollectorPlan& b) {
  const auto same = [](const CollectorCandidate& x, const CollectorCandidate& y) {
    return x.name == y.name && x.command.words == y.command.words &&
           x.command.environment == y.command.environment;
  };
  return std::equal(a.candidates.begin(), a.candidates.end(), b.candidates.begin(),
                    b.candidates.end(), same) &&
         a.silence == b.silence && a.first_pause == b.first_pause &&
         a.longest_pause == b.longest_pause;
}

Collector::Collector(asio::io_context& io, asio::thread_pool& workers, CollectorSink& sink,
                     Tell on_cause, Tell on_passed_over)
    : io_(io),
      workers_(workers),
      sink_(sink),
      on_cause_(std::move(on_cause)),
      on_passed_over_(std::move(on_passed_over)),
      death_(io, SIGCHLD),
      pause_timer_(io) {
  WatchForDeath();
}

Collector::~Collector() { Stop(); }

pid_t Collector::child() const { return child_ ? child_->process.pid() : 0; }

void Collector::Run(CollectorPlan plan) {
  plan_ = std::move(plan);
  causes_.assign(plan_.candidates.size(), "");
  candidate_ = 0;
  next_pause_ = plan_.first_pause;
  changed_ = running_;
  if (child_) child_->Kill("the settings have changed");
  pause_timer_.cancel();
  if (running_) return;
  running_ = true;
  asio::co_spawn(io_, Supervise(), EndsTheDaemon);
}

// If the pipe is full, the child has earlier requests still to read.
void Collector::PollSoon() {
  if (!child_) return;
  [[maybe_unused]] const ssize_t written = ::write(child_->process.input().get(), "\n", 1);
}

void Collector::Stop() {
  stopping_ = true;
  if (child_) child_->Kill("gpuadvised stops");
  pause_timer_.cancel();
  error_code ignored;
  death_.cancel(ignored);
}

// A dead leader may leave children that hold its pipe open; reaping it ends them too.
void Collector::WatchForDeath() {
  death_.async_wait([this](error_code error, int) {
    if (error || stopping_) return;
    if (child_) child_->process.Ended();
    WatchForDeath();
  });
}

asio::awaitable<void> Collector::Supervise() {
  while (!stopping_) {
    changed_ = false;
    const CollectorCandidate candidate = plan_.candidates[candidate_];
    const End end = co_await RunOnce(candidate);
    if (stopping_) break;
    if (changed_) continue;
    if (end.finished) break;
    Learn(end);
    const bool paused = co_await Pause(end);
    if (!paused) break;
  }
  running_ = false;
}

asio::awaitable<Collector::End> Collector::RunOnce(const CollectorCandidate& candidate) {
  ++starts_;
  End end;
  ProgramCall call = CollectorCall(candidate.command);
  call.child.input = candidate.may_finish ? ChildInput::kNothing : ChildInput::kPipe;
  auto started = ChildProcess::Start(call.command, call.child);
  if (!started) {
    end.cause =
        fmt::format("no process could be created for the collector: {}", strerror(started.error()));
    co_return end;
  }
  auto child = std::make_shared<Child>(io_, candidate, std::move(*started));
  child_ = child;
  spdlog::info("collector {} started as process {}", candidate.name, child->process.pid());
  co_await asio::co_spawn(workers_, BeginOnWorker(sink_), asio::use_awaitable);
  child->ReadErrors();
  ResetSilence(child);
  co_await ReadOutput(child);
  co_await AwaitEnd(child);
  child->silence.cancel();
  child->DrainErrors();
  error_code ignored;
  child->errors.close(ignored);
  child_.reset();
  end.cause = child->Cause();
  end.delivered = child->delivered;
  const auto ended = child->process.Ended();
  end.finished = candidate.may_finish && ended && ended->ok() && child->delivered;
  co_return end;
}

asio::awaitable<void> Collector::ReadOutput(std::shared_ptr<Child> child) {
  std::string buffer(kReadBytes, '\0');
  error_code error;
  for (;;) {
    const size_t count = co_await child->output.async_read_some(asio::buffer(buffer), Into(error));
    if (error) break;
    const std::string_view bytes(buffer.data(), count);
    const CollectorProgress progress =
        co_await asio::co_spawn(workers_, TakeOnWorker(sink_, bytes), asio::use_awaitable);
    Heard(*child, progress);
    if (progress.alive) ResetSilence(child);
  }
  child->output.close(error);
}

asio::awaitable<void> Collector::AwaitEnd(std::shared_ptr<Child> child) {
  asio::steady_timer pause(io_);
  error_code error;
  // The child has closed its output. It gets some time to end by itself, for its exit status.
  for (int tries = 0; tries < kReapTries && !child->process.Ended(); ++tries) {
    if (tries == kReapTries / 5) child->Kill("it closed its output");
    pause.expires_after(kReapPause);
    co_await pause.async_wait(Into(error));
  }
}

void Collector::Heard(Child& child, const CollectorProgress& progress) {
  if (progress.delivered) {
    if (!child.delivered) {
      spdlog::info("{} delivers", child.name);
      // Causes of later candidates are out of date: they were not tried since.
      std::fill(causes_.begin() + static_cast<std::ptrdiff_t>(candidate_), causes_.end(), "");
      on_passed_over_(CauseOfAll());
    }
    child.delivered = true;
    next_pause_ = plan_.first_pause;
    child.reported.clear();
  }
  if (progress.rubbish) {
    child.last_words = *progress.rubbish;
    spdlog::warn("{}: {}", child.name, child.last_words);
    on_cause_(fmt::format("{}: {}", child.name, child.last_words));
  }
  if (!progress.error) return;
  if (child.reported != *progress.error) spdlog::warn("{}: {}", child.name, *progress.error);
  child.reported = *progress.error;
  on_cause_(child.reported);
  // With other candidates left, one that has never delivered gets no more time.
  if (!child.delivered && plan_.candidates.size() > 1) child.Kill(child.reported);
}

void Collector::ResetSilence(const std::shared_ptr<Child>& child) {
  child->silence.expires_after(plan_.silence);
  child->silence.async_wait([this, weak = std::weak_ptr<Child>(child)](error_code error) {
    const std::shared_ptr<Child> silent = weak.lock();
    if (error || !silent) return;
    if (silent->silence.expiry() > std::chrono::steady_clock::now()) return;  // reset meanwhile
    silent->Kill(fmt::format("it gave no sign of life for {}", DurationWords(plan_.silence)));
  });
}

void Collector::Learn(const End& end) {
  causes_[candidate_] = end.cause;
  spdlog::warn("collector {}", end.cause);
  if (!end.delivered) candidate_ = (candidate_ + 1) % plan_.candidates.size();
  on_cause_(CauseOfAll());
}

std::string Collector::CauseOfAll() const {
  std::string all;
  for (const std::string& cause : causes_) {
    if (cause.empty()) continue;
    if (!all.empty()) all += "; ";
    all += cause;
  }
  return all;
}

// Waits before the next start; returns false if there is none.
asio::awaitable<bool> Collector::Pause(const End& end) {
  const bool round_is_over = end.delivered || candidate_ == 0;
  if (round_is_over) {
    error_code error;
    pause_timer_.expires_after(next_pause_);
    next_pause_ = std::min(next_pause_ * 2, plan_.longest_pause);
    co_await pause_timer_.async_wait(Into(error));
  }
  co_return !stopping_;
}

}  // namespace gpuadvise::daemon
