// Copies of a history for a standby: made on the first daemon, put in place on the other.
//
// A copy is one moment of the history, by SQLite's online backup over a connection of its own:
// whoever writes meanwhile does not wait. It is a plain file beside the history, read in pieces,
// and one at a time. What arrives is checked whole before it takes the place of what was there.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

inline constexpr int64_t kCopyPieceBytes = int64_t{4} << 20;

struct HistoryCopy {
  std::string id;
  int64_t bytes = 0;
};

// The copy that the first daemon offers. Safe from any thread; blocking.
class CopyShelf {
 public:
  explicit CopyShelf(std::string state_dir);
  ~CopyShelf();  // it goes with the daemon
  CopyShelf(const CopyShelf&) = delete;
  CopyShelf& operator=(const CopyShelf&) = delete;

  // A copy of now, in place of the one before. Errors: kUnavailable: there is no history, or no
  // room for a copy beside it.
  Result<HistoryCopy> Make(const std::string& id);

  // Up to kCopyPieceBytes of it from `offset` on. Errors: kNotFound: another is offered now.
  Result<std::string> Read(const std::string& id, int64_t offset);

 private:
  const std::string state_dir_;
  const std::string path_;
  std::mutex mutex_;  // guards all below and the file
  HistoryCopy copy_;
};

// Where a standby collects the pieces of a copy.
std::string ArrivingCopyPath(const std::string& state_dir);

// Checks the file there, whole and page by page, and puts it in the place of the history of
// `state_dir`. REQUIRES: the daemon has not opened that history. Errors: kUnavailable with what is
// wrong; the history stays as it was, and what arrived is removed.
Result<void> InstallCopy(const std::string& state_dir, int64_t bytes);

}  // namespace gpuadvise::daemon
