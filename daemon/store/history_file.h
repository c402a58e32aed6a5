// The history's file on disk: finds, creates, upgrades or sets it aside (history.h describes the
// contents).
//
// It and what SQLite puts beside it are for the daemon's user alone (0600), whatever the umask, the
// folder, or an earlier gpuadvised left. An older version is rewritten into a new file that takes
// its place whole, so that nothing of what is no longer kept stays on a free page. Blocking.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/error.h"
#include "common/base/unix_time.h"
#include "common/process/descriptor.h"

namespace gpuadvise::daemon {

// Bounds. Counts used pages of the file; the log (-wal) takes up to 16 MiB more.
struct HistoryBounds {
  int64_t bytes = int64_t{1} << 30;
  int64_t experiment_bytes_of_one = int64_t{32} << 20;  // of one user's rows of the experiment log

  // Of the experiment log: never so much that no room is left for what forecasts learn from.
  int64_t experiment_bytes() const { return bytes / 2; }
};

struct HistoryFile {
  std::string path;
  Descriptor lock;  // held for as long as the database is open
  std::unique_ptr<SQLite::Database> database;
  std::string set_aside;  // why a file that was there is not used, and where it lies; "" none was
};

// How long another process (an administrator's sqlite3) may hold the database before an error.
inline constexpr int kHistoryBusyMilliseconds = 5'000;

// Including its log; 0 if missing.
int64_t HistoryBytesOnDisk(const std::string& file);

std::string HistoryPath(const std::string& state_dir);

// Opens or creates the history in `state_dir`, creating the folder if needed. Errors: kUnavailable,
// with folder or file and the remedy.
Result<HistoryFile> OpenHistoryFile(const std::string& state_dir, UnixSeconds now,
                                    const HistoryBounds& bounds);

// Whether `path` exists but cannot be a database: a FIFO, a folder, a device.
bool IsNoPlainFile(const std::string& path);

}  // namespace gpuadvise::daemon
