#include "client/run/outcome_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "common/process/files.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string JoinPath(const std::string& folder, const std::string& name) {
  return folder + "/" + name;
}

// Moves an outcome of another job aside: it may not have been imported yet.
void KeepOtherOutcome(const Outcome& outcome, const std::string& folder) {
  const std::string path = JoinPath(folder, kOutcomeFile);
  const Result<Outcome> there = ReadOutcomeFile(path, ::geteuid());
  if (!there || there->job_id == 0 || there->job_id == outcome.job_id) return;
  const std::string kept =
      JoinPath(folder, fmt::format("gpuadvise-outcome-{}.json", there->job_id));
  if (std::rename(path.c_str(), kept.c_str()) != 0) return;  // replaced then
}

// Writes a file readable for all. Replaces invalid UTF-8 in names, so that the rest is kept.
Result<void> WriteTo(const std::string& path, const Outcome& outcome) {
  return ReplaceFile(
      path, ToJson(outcome).dump(1, ' ', false, json::error_handler_t::replace) + "\n", 0644);
}

}  // namespace

Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder) {
  KeepOtherOutcome(outcome, folder);
  return WriteTo(JoinPath(folder, kOutcomeFile), outcome);
}

Result<void> LeaveOutcome(const Outcome& outcome, const std::string& folder) {
  std::random_device random;  // an unpredictable name, which nobody can occupy
  const std::string name =
      fmt::format("gpuadvise-outcome-{}-{}-{:08x}.json", ::geteuid(), outcome.job_id, random());
  return WriteTo(JoinPath(folder, name), outcome);
}

Result<Outcome> ReadOutcomeFile(const std::string& path, uid_t owner) {
  const auto file = OpenRegularFile(path, {kMaxOutcomeBytes, "outcome", owner});
  if (!file) return tl::unexpected<Error>(file.error());
  const auto text = ReadAll(file->descriptor, kMaxOutcomeBytes);
  if (text) return ReadOutcomeText(*text);
  return Fail(ErrorCode::kUnavailable,
              fmt::format("cannot be read: {}", std::strerror(text.error())));
}

std::vector<Attempt> EarlierAttempts(const std::string& folder, int64_t job_id, int64_t restarts) {
  if (job_id == 0 || restarts == 0) return {};
  Result<Outcome> there = ReadOutcomeFile(JoinPath(folder, kOutcomeFile), ::geteuid());
  if (!there || there->job_id != job_id || there->restarts >= restarts) return {};
  return std::move(there->attempts);
}

namespace {

constexpr double kQuickSeconds = 0.5;

}  // namespace

bool OutcomeReport::Sent(const Outcome& outcome) {
  if (outcome.job_id == 0) return false;
  const double before = clock_();
  const bool sent = send_(outcome).has_value();
  const double now = clock_();
  heard_ = heard_ || sent;
  if (sent && now - before <= kQuickSeconds) {
    wait_ = 0;
  } else {
    wait_ = std::clamp(2 * wait_, kFirstWaitSeconds, kLongestWaitSeconds);
    next_try_ = now + wait_;
  }
  return sent;
}

void OutcomeReport::Progress(const Outcome& outcome) {
  // A full disk is reported only at the end, since it may recover.
  [[maybe_unused]] const Result<void> written = WriteOutcome(outcome, folder_);
  if (wait_ == 0 || clock_() >= next_try_) Sent(outcome);
}

Result<void> OutcomeReport::End(const Outcome& outcome) {
  const Result<void> written = WriteOutcome(outcome, folder_);
  const int tries = outcome.job_id == 0 ? 0 : heard_ ? kLastTries : 1;
  for (int tried = 1; tried <= tries; ++tried) {
    if (Sent(outcome)) return {};
    // Spreads the retries of jobs that end together.
    const double share = static_cast<double>(outcome.job_id % 16) / 16;
    if (tried < tries) pause_(tried * (0.5 + share));
  }
  const bool left = !site_folder_.empty() && outcome.job_id > 0 &&
                    LeaveOutcome(outcome, site_folder_).has_value();
  return left ? Result<void>() : written;
}

}  // namespace gpuadvise::client
