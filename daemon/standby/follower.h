// Following the first daemon: is it there, what is its history, and giving back what was seen while
// it was away. Blocking; one thread at a time.
//
// Time is counted, never compared: a check is missed when its own patience is over (a monotonic
// clock of this machine), and three in a row are enough. What the other machine's clock says is
// never looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "common/base/error.h"
#include "daemon/link/daemon_link.h"
#include "daemon/settings/settings.h"
#include "process/descriptor.h"

namespace gpuadvise::daemon {

// Whether the first daemon has missed enough to be taken for gone, and whether it is back. Pure.
class Checks {
 public:
  static constexpr int kMissedToTakeOver = 3;
  static constexpr int kSeenToGiveBack = 2;  // one answer between two crashes is none

  void Seen() { missed_ = 0, ++seen_; }
  void Missed() { seen_ = 0, ++missed_; }
  bool IsGone() const { return missed_ >= kMissedToTakeOver; }
  bool IsBack() const { return seen_ >= kSeenToGiveBack; }
  int missed() const { return missed_; }

 private:
  int missed_ = 0;
  int seen_ = 0;
};

class Follower {
 public:
  explicit Follower(const Settings& settings);

  // So long a check may take: with three of the interval before it that is less than a minute.
  static constexpr std::chrono::milliseconds kPatience{4'000};

  // Errors: kUnavailable: the first does not answer, or is none.
  Result<void> Check() const;

  // Of a history in a server, which both daemons use: whether the first's is in one, too. Errors:
  // kUnavailable with what is to be mended.
  Result<void> CheckShared() const;

  // Takes a copy of the first's history, checks it and puts it in the place of the own one. What
  // has arrived of one that was cut off is used again. REQUIRES: the own history is not open.
  // Errors: kUnavailable with what stood in the way; the own history stays as it was.
  Result<int64_t> TakeCopy();

  // Gives back what this daemon saved in place of the first, if anything. The number of rows.
  // REQUIRES: as above. Errors: as above; it is asked again.
  Result<int64_t> GiveBack();

 private:
  Result<void> Fetch(const std::string& id, int64_t bytes) const;

  const Settings& settings_;
  DaemonLink link_;
};

}  // namespace gpuadvise::daemon
