#include "daemon/accounting.h"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/snapshot_json.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr const char* kUntil = "accounting_until";  // everything before it is known, back to …
constexpr const char* kBackTo = "accounting_back_to";
constexpr int64_t kPageSeconds = 86'400;
constexpr int64_t kOverlapSeconds = 3'600;  // jobs are accounted for late
constexpr int kEnoughEmptyPages = 14;
constexpr int kPagesUntilLearned = 10;
constexpr size_t kMostBytes = size_t{256} << 20;

/// Reads what is there; false at the end of it.
bool ReadSome(int descriptor, std::string& into) {
  std::array<char, 65'536> buffer{};
  const ssize_t got = read(descriptor, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

std::string FirstLineOf(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<std::string> RunToEnd(const CommandLine& command, std::chrono::milliseconds deadline,
                             const std::function<bool()>& stop) {
  Result<ChildProcess> child = ChildProcess::Start(command);
  if (!child) return tl::unexpected<Error>(child.error());
  const auto give_up = std::chrono::steady_clock::now() + deadline;
  const int output = child->TakeOutput();
  const int errors = child->TakeErrors();
  std::string printed;
  std::string complaint;
  std::string why;
  bool more_output = true;
  bool more_errors = true;
  while (more_output || more_errors) {
    if (stop()) why = "gpuadvised is ending";
    if (std::chrono::steady_clock::now() > give_up) why = "took too long";
    if (printed.size() > kMostBytes) why = "printed too much";
    if (!why.empty()) break;
    std::array<pollfd, 2> wait = {pollfd{more_output ? output : -1, POLLIN, 0},
                                  pollfd{more_errors ? errors : -1, POLLIN, 0}};
    poll(wait.data(), wait.size(), 200);
    if (wait[0].revents != 0) more_output = ReadSome(output, printed);
    if (wait[1].revents != 0) more_errors = ReadSome(errors, complaint);
  }
  close(output);
  close(errors);
  if (!why.empty()) child->Kill();
  std::optional<std::string> ended = child->Ended();
  while (!ended) {
    if (std::chrono::steady_clock::now() > give_up) child->Kill();
    usleep(10'000);
    ended = child->Ended();
  }
  if (why.empty() && child->succeeded()) return printed;
  if (why.empty()) why = complaint.empty() ? *ended : FirstLineOf(complaint);
  return Fail(ErrorCode::kUnavailable, std::move(why));
}

Result<std::vector<JobRecord>> JobsIn(std::string_view printed) {
  std::vector<JobRecord> jobs;
  bool ended = false;
  while (!printed.empty()) {
    const size_t end = std::min(printed.find('\n'), printed.size());
    const json line = json::parse(printed.substr(0, end), nullptr, false);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (!line.is_object()) continue;
    ended = ended || line.contains("end");
    if (!line.contains("job")) continue;
    if (auto job = FromJson<JobRecord>(line["job"])) jobs.push_back(std::move(*job));
  }
  if (!ended) return Fail(ErrorCode::kUnavailable, "the accounting was cut off");
  return jobs;
}

Accounting::Accounting(AccountingPlan plan, HistoryWriter& history, const Clock& clock,
                       std::function<void()> learned, std::function<void()> turn)
    : plan_(std::move(plan)),
      history_(history),
      clock_(clock),
      learned_(std::move(learned)),
      turn_(std::move(turn)) {}

Accounting::~Accounting() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Accounting::Run() {
  if (plan_.interval.count() == 0) return;
  thread_ = std::thread([this] {
    while (!Stopping()) {
      const std::chrono::milliseconds rest = Step();
      std::unique_lock lock(mutex_);
      stop_.wait_for(lock, rest, [this] { return stopping_; });
    }
  });
}

bool Accounting::Stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

std::string Accounting::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void Accounting::Report(const Error* error) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (error == nullptr) {
    if (!problem_.empty()) spdlog::info("accounting answers again");
    problem_.clear();
    return;
  }
  if (problem_ != error->message) {
    spdlog::warn("accounting cannot be asked: {}; the history comes from snapshots alone",
                 error->message);
  }
  problem_ = error->message;
}

/// The next page of the past, newest first; nullopt when all of it is known.
std::optional<std::pair<UnixSeconds, UnixSeconds>> Accounting::NextOfPast(UnixSeconds now) {
  const UnixSeconds back_to = history_.Noted(kBackTo).value_or(now);
  if (back_to <= now - plan_.seed_seconds) return std::nullopt;
  return std::pair{back_to - kPageSeconds, back_to};
}

std::chrono::milliseconds Accounting::Step() {
  turn_();
  const UnixSeconds now = clock_.Now();
  const UnixSeconds until = std::min(history_.Noted(kUntil).value_or(now), now);
  const bool due = (now - until) * 1'000 >= plan_.interval.count();
  const bool seeded = history_.Noted(kBackTo).has_value();
  if (due && seeded) {
    const UnixSeconds to = std::min(until + kPageSeconds, now);
    if (!Ask(until - kOverlapSeconds, to)) return plan_.interval;
    history_.Note(kUntil, to);
    if (to < now) return plan_.rest;
  } else if (const auto page = NextOfPast(now)) {
    if (!Ask(page->first, page->second)) return plan_.interval;
    // Where nothing has been for long there is nothing before: a restart does not look again.
    const bool enough = empty_pages_ >= kEnoughEmptyPages;
    history_.Note(kBackTo, enough ? now - plan_.seed_seconds : page->first);
    if (!seeded) history_.Note(kUntil, now);
    const int64_t pages = (now - page->first) / kPageSeconds;
    if (pages % kPagesUntilLearned != 1) return plan_.rest;
  }
  if (unlearned_ > 0) {
    unlearned_ = 0;
    learned_();
  }
  return NextOfPast(now) ? plan_.rest : plan_.interval;
}

bool Accounting::Ask(UnixSeconds since, UnixSeconds until) {
  CommandLine command = plan_.command;
  command.arguments.insert(command.arguments.end(),
                           {"--since", std::to_string(since), "--until", std::to_string(until)});
  const auto printed = RunToEnd(command, plan_.deadline, [this] { return Stopping(); });
  if (!printed) {
    Report(&printed.error());
    return false;
  }
  const auto jobs = JobsIn(*printed);
  if (!jobs) {
    Report(&jobs.error());
    return false;
  }
  Report(nullptr);
  empty_pages_ = jobs->empty() ? empty_pages_ + 1 : 0;
  unlearned_ += history_.Complete(*jobs);
  return true;
}

}  // namespace gpuadvise
