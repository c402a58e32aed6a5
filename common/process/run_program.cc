#include "common/process/run_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace gpuadvise {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMaxErrorBytes = 4096;
constexpr milliseconds kStopPause{200};
constexpr milliseconds kLongestPause{60'000};

// Reads available bytes, keeping the first `bound` in total. Returns the number read.
size_t Drain(Descriptor& from, std::string& into, size_t bound) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), std::min(static_cast<size_t>(got), bound - into.size()));
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) from.Close();
  return static_cast<size_t>(std::max<ssize_t>(got, 0));
}

// Writes to and reads from a child concurrently, so that neither side blocks.
class Exchange {
 public:
  Exchange(const ProgramCall& call, ChildProcess& child) : call_(call), child_(child) {
    input_ = call.input;
    if (call.deadline.count() > 0) deadline_ = Clock::now() + call.deadline;
  }

  ProgramEnd Run() {
    while ((child_.output() || child_.errors()) && GoesOn()) Turn();
    // It may close its output long before it ends: the deadline still applies.
    while (!child_.Ended() && GoesOn()) ::usleep(1'000);
    if (end_.how != ProgramEnd::How::kByItself) return std::move(end_);
    end_.end = *child_.Ended();
    end_.error = end_.end.exec_error;
    if (end_.error != 0) end_.how = ProgramEnd::How::kNotRun;
    return std::move(end_);
  }

 private:
  bool GoesOn() {
    if (call_.stop && call_.stop()) {
      end_.how = ProgramEnd::How::kStopped;
    } else if (deadline_ && Clock::now() >= *deadline_) {
      end_.how = ProgramEnd::How::kTooLate;
    } else if (call_.ends_at_bound && (end_.output.size() >= call_.max_output_bytes ||
                                       error_bytes_ >= call_.max_output_bytes)) {
      end_.how = ProgramEnd::How::kTooMuch;
    }
    return end_.how == ProgramEnd::How::kByItself;
  }

  int PauseMilliseconds() const {
    milliseconds pause = call_.stop ? kStopPause : kLongestPause;
    if (deadline_) {
      pause = std::clamp(std::chrono::ceil<milliseconds>(*deadline_ - Clock::now()),
                         milliseconds(0), pause);
    }
    return static_cast<int>(pause.count());
  }

  void Turn() {
    if (input_.empty()) child_.input().Close();
    std::array<pollfd, 3> waiting = {pollfd{child_.output().get(), POLLIN, 0},
                                     pollfd{child_.errors().get(), POLLIN, 0},
                                     pollfd{child_.input().get(), POLLOUT, 0}};
    ::poll(waiting.data(), waiting.size(), PauseMilliseconds());
    if (waiting[0].revents != 0) Drain(child_.output(), end_.output, call_.max_output_bytes);
    if (waiting[1].revents != 0)
      error_bytes_ += Drain(child_.errors(), end_.errors, kMaxErrorBytes);
    if (waiting[2].revents != 0) Feed();
  }

  void Feed() {
    const ssize_t sent = ::write(child_.input().get(), input_.data(), input_.size());
    if (sent > 0) input_.remove_prefix(static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) input_ = {};  // it stopped reading
  }

  const ProgramCall& call_;
  ChildProcess& child_;
  std::string_view input_;
  std::optional<Clock::time_point> deadline_;
  size_t error_bytes_ = 0;  // total on standard error
  ProgramEnd end_;
};

}  // namespace

ProgramEnd RunWithin(const ProgramCall& call) {
  std::signal(SIGPIPE, SIG_IGN);  // the exit status reports a child that ends early
  ChildOptions options = call.child;
  if (!call.input.empty()) options.input = ChildInput::kPipe;
  auto child = ChildProcess::Start(call.command, options);
  if (child) return Exchange(call, *child).Run();
  ProgramEnd end;
  end.how = ProgramEnd::How::kNotRun;
  end.error = child.error();
  return end;
}

Error ExplainTermination(const ProgramCall& call, const ProgramEnd& end) {
  const std::string& program = call.command.words.front();
  switch (end.how) {
    case ProgramEnd::How::kNotRun:
      return {ErrorCode::kInternal,
              fmt::format("{} could not be run: {}", program, std::strerror(end.error)), ""};
    case ProgramEnd::How::kTooLate:
      return {ErrorCode::kUnavailable,
              fmt::format("{} did not answer within {:g} s", program,
                          static_cast<double>(call.deadline.count()) / 1e3),
              ""};
    case ProgramEnd::How::kTooMuch:
      return {ErrorCode::kUnavailable,
              program + " printed more than can be right; its answer is dropped", ""};
    default:
      return {ErrorCode::kUnavailable, program + " was stopped", ""};
  }
}

Result<ProgramEnd> RunToCompletion(const ProgramCall& call) {
  ProgramEnd end = RunWithin(call);
  if (end.how == ProgramEnd::How::kByItself) return end;
  return tl::unexpected<Error>(ExplainTermination(call, end));
}

Result<std::string> RunProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& input,
                               ChildErrors errors) {
  ProgramCall call;
  call.command.words = {program};
  call.command.words.insert(call.command.words.end(), arguments.begin(), arguments.end());
  call.child.group = ChildGroup::kOurs;
  call.child.errors = errors;
  call.input = input;
  Result<ProgramEnd> run = RunToCompletion(call);
  if (!run) return tl::unexpected<Error>(std::move(run.error()));
  if (run->ok()) return std::move(run->output);
  const ChildEnd& end = run->end;
  return Fail(ErrorCode::kInternal,
              fmt::format("{} failed ({} {})", program, end.signal != 0 ? "signal" : "exit status",
                          end.signal != 0 ? end.signal : end.exit_code));
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
