#include "client/commands/sweep_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "client/api/exit_code.h"
#include "client/terminal/display.h"
#include "client/views/sweep_view.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr int kLooksForAccounting = 40;  // it is read every ten minutes
constexpr double kLeastMoveSeconds = 120;
constexpr double kLeastMoveShare = 0.10;  // of the time until then

bool HasMoved(int64_t said, int64_t end, int64_t now) {
  const auto until = static_cast<double>(std::max<int64_t>(said - now, 0));
  return std::abs(static_cast<double>(end - said)) >=
         std::max(kLeastMoveSeconds, kLeastMoveShare * until);
}

}  // namespace

WatchStatus SweepWatch::Step(const api::SweepProgress& sweep, int64_t now) {
  WatchStatus status;
  const std::string end = EndWords(sweep, now);
  status.line = ProgressWords(sweep) + (end.empty() ? "" : " · " + end);
  status.changed = !last_ || ProgressWords(*last_) != ProgressWords(sweep);
  const api::SweepProgress before = last_.value_or(sweep);
  last_ = sweep;
  if (before.running + before.done == 0 && sweep.running + sweep.done > 0) {
    status.news.push_back({"started", "The first runs have begun."});
  }
  if (sweep.failed > before.failed) {
    status.news.push_back({"failed", Plural(sweep.failed - before.failed, "run") + " failed."});
  }
  if (sweep.moved > before.moved) {
    status.notes.push_back(Plural(sweep.moved - before.moved, "run") +
                           " moved to where they end first");
  }
  if (sweep.end_p50) {
    if (said_end_ && HasMoved(*said_end_, *sweep.end_p50, now)) {
      status.news.push_back(
          {"moved", fmt::format("The forecast end moved from {} to {}.", ClockTime(*said_end_, now),
                                ClockTime(*sweep.end_p50, now))});
      said_end_ = sweep.end_p50;
      status.changed = true;
    }
    if (!said_end_) said_end_ = sweep.end_p50;
  }
  if (sweep.running + sweep.waiting > 0) {
    looks_at_end_ = 0;
    return status;
  }
  if (sweep.unknown > 0 && ++looks_at_end_ < kLooksForAccounting) return status;
  if (sweep.unknown > 0) status.line += "; for their states see sacct";
  status.changed = true;
  status.reason =
      sweep.done == sweep.runs ? "ok" : Plural(sweep.runs - sweep.done, "run") + " not done";
  status.exit_code = sweep.done == sweep.runs ? kExitOk : kExitError;
  return status;
}

}  // namespace gpuadvise::client
