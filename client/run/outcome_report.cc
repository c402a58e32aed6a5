#include "client/run/outcome_report.h"

#include "client/run/outcome_file.h"

namespace gpuadvise {
namespace {

constexpr double kQuickSeconds = 0.5;

}  // namespace

bool OutcomeReport::Sent(const Outcome& outcome) {
  if (outcome.job_id == 0) return false;
  const double before = clock_();
  const bool sent = send_(outcome).has_value();
  slow_ = slow_ || clock_() - before > kQuickSeconds;
  return sent;
}

void OutcomeReport::Progress(const Outcome& outcome) {
  // A full disk is told at the end; until then it may pass.
  [[maybe_unused]] const Result<void> written = WriteOutcome(outcome, folder_);
  if (!slow_) Sent(outcome);
}

Result<void> OutcomeReport::End(const Outcome& outcome) {
  const Result<void> written = WriteOutcome(outcome, folder_);
  if (Sent(outcome)) return {};
  const bool left = !site_folder_.empty() && outcome.job_id > 0 &&
                    LeaveOutcome(outcome, site_folder_).has_value();
  return left ? Result<void>() : written;
}

}  // namespace gpuadvise
