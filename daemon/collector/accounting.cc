#include "daemon/collector/accounting.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/text.h"
#include "common/slurm/accounted_job.h"
#include "common/slurm/snapshot_json.h"
#include "common/slurm/snapshot_records.h"
#include "daemon/collector/collector.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr const char* kUntil = "accounting_until";  // known up to here, back to …
constexpr const char* kBackTo = "accounting_back_to";
constexpr int64_t kPageSeconds = 86'400;
constexpr int64_t kOverlapSeconds = 3'600;  // accounting records jobs late
constexpr int kEnoughEmptyPages = 14;
constexpr int kPagesUntilLearned = 10;
constexpr size_t kMostBytes = size_t{256} << 20;

std::string FirstLine(const std::string& text) {
  return OneLine(text.substr(0, text.find('\n')), kMaxMessageBytes);
}

}  // namespace

Result<std::string> AskCollector(const Command& command, std::chrono::milliseconds deadline,
                                 const std::function<bool()>& stop) {
  ProgramCall call = CollectorCall(command);
  call.deadline = deadline;
  call.max_output_bytes = kMostBytes;
  call.ends_at_bound = true;
  call.stop = stop;
  ProgramEnd end = RunWithin(call);
  if (end.ok()) return std::move(end.output);
  std::string why = end.errors.empty() ? InWords(end.end) : FirstLine(end.errors);
  if (end.how == ProgramEnd::How::kNotRun) why = CannotRun(command, end.error);
  if (end.how == ProgramEnd::How::kTooLate) why = "took too long";
  if (end.how == ProgramEnd::How::kTooMuch) why = "printed too much";
  if (end.how == ProgramEnd::How::kStopped) why = "gpuadvised is ending";
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
                 DescribeAccountingError(error->message));
  }
  problem_ = error->message;
}

// The next unread page of the past, newest first; nullopt: all read.
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
    // A long empty stretch means no earlier records; a restart does not ask again.
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
  Command command = plan_.command;
  command.words.insert(command.words.end(),
                       {"--since", std::to_string(since), "--until", std::to_string(until)});
  const auto printed = AskCollector(command, plan_.deadline, [this] { return Stopping(); });
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

}  // namespace gpuadvise::daemon
