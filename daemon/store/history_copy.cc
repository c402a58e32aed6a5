#include "daemon/store/history_copy.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "daemon/store/history_file.h"
#include "process/descriptor.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRoomLeft = int64_t{16} << 20;  // others write there too

void RemoveWithLog(const std::string& file) {
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    std::error_code ignored;
    fs::remove(file + part, ignored);
  }
}

tl::unexpected<Error> CopyFailed(const std::string& why) {
  return Fail(ErrorCode::kUnavailable, "the history cannot be copied: " + why);
}

Result<void> CheckRoomFor(int64_t bytes, const std::string& folder) {
  struct statvfs about {};
  if (statvfs(folder.c_str(), &about) != 0) return {};
  const auto room = static_cast<int64_t>(about.f_bavail * about.f_frsize);
  if (room >= bytes + kRoomLeft) return {};
  return CopyFailed(fmt::format("{} MB are free in {}, and a copy takes {} MB; make room there",
                                room / 1'000'000, folder, bytes / 1'000'000 + 1));
}

// An empty file for this user alone.
Result<void> BeginPrivate(const std::string& path) {
  RemoveWithLog(path);
  const Descriptor begun(
      open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (begun) return {};
  return CopyFailed(fmt::format("{}: {}", path, std::strerror(errno)));
}

// What is wrong with the file; "": nothing.
std::string WrongWith(const std::string& path) {
  try {
    SQLite::Database database(path, SQLite::OPEN_READWRITE, kHistoryBusyMilliseconds);
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    if (version > kHistoryVersion) {
      return fmt::format(
          "it was written by a newer gpuadvised (version {}, this one knows {}); "
          "install that one here too",
          version, kHistoryVersion);
    }
    if (version <= 0) return "it is no history";
    const std::string found = database.execAndGet("PRAGMA integrity_check(1)").getString();
    return found == "ok" ? "" : "it is damaged: " + found;
  } catch (const SQLite::Exception& error) {
    return fmt::format("it is damaged: {}", error.what());
  }
}

bool SyncToDisk(const std::string& path, int flags) {
  const Descriptor file(open(path.c_str(), flags | O_CLOEXEC));
  return file && fsync(file.get()) == 0;
}

}  // namespace

CopyShelf::CopyShelf(std::string state_dir)
    : state_dir_(std::move(state_dir)), path_(HistoryPath(state_dir_) + ".copy") {
  RemoveWithLog(path_);  // of a daemon that was killed
}

CopyShelf::~CopyShelf() { RemoveWithLog(path_); }

Result<HistoryCopy> CopyShelf::Make(const std::string& id) {
  const std::lock_guard lock(mutex_);
  copy_ = {};
  const std::string file = HistoryPath(state_dir_);
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(file, error));
  if (error) return CopyFailed(fmt::format("{}: {}", file, error.message()));
  if (Result<void> room = CheckRoomFor(size, state_dir_); !room) {
    return tl::unexpected<Error>(room.error());
  }
  if (Result<void> begun = BeginPrivate(path_); !begun) {
    return tl::unexpected<Error>(begun.error());
  }
  try {
    SQLite::Database from(file, SQLite::OPEN_READONLY, kHistoryBusyMilliseconds);
    SQLite::Database into(path_, SQLite::OPEN_READWRITE, kHistoryBusyMilliseconds);
    SQLite::Backup backup(into, from);
    backup.executeStep(-1);  // in one go: readers and the writer do not wait for each other (WAL)
  } catch (const SQLite::Exception& failure) {
    RemoveWithLog(path_);
    return HistoryUnavailable(file, failure);
  }
  const auto bytes = static_cast<int64_t>(fs::file_size(path_, error));
  if (error) return CopyFailed(error.message());
  copy_ = {id, bytes};
  return copy_;
}

Result<std::string> CopyShelf::Read(const std::string& id, int64_t offset) {
  const std::lock_guard lock(mutex_);
  if (copy_.id.empty() || id != copy_.id) {
    return Fail(ErrorCode::kNotFound, "this copy of the history is not offered any more");
  }
  if (offset < 0 || offset > copy_.bytes) {
    return Fail(ErrorCode::kBadInput, fmt::format("offset is not within 0 and {}", copy_.bytes));
  }
  const Descriptor file(open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string piece(static_cast<size_t>(std::min(kCopyPieceBytes, copy_.bytes - offset)), '\0');
  size_t done = 0;
  while (file && done < piece.size()) {
    const ssize_t got = pread(file.get(), piece.data() + done, piece.size() - done,
                              offset + static_cast<int64_t>(done));
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  if (done < piece.size()) return CopyFailed(fmt::format("{} cannot be read", path_));
  return piece;
}

std::string ArrivingCopyPath(const std::string& state_dir) {
  return HistoryPath(state_dir) + ".arriving";
}

Result<void> InstallCopy(const std::string& state_dir, int64_t bytes) {
  const std::string fresh = ArrivingCopyPath(state_dir);
  const std::string file = HistoryPath(state_dir);
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(fresh, error));
  std::string wrong;
  if (error || size != bytes) {
    wrong = fmt::format("{} of {} bytes have arrived", error ? 0 : size, bytes);
  } else if (IsNoPlainFile(file)) {
    wrong = fmt::format("{} is no plain file; move it away", file);
  } else {
    wrong = WrongWith(fresh);
  }
  if (wrong.empty() && !SyncToDisk(fresh, O_RDWR)) wrong = "the disk does not take it";
  if (!wrong.empty()) {
    RemoveWithLog(fresh);
    return Fail(ErrorCode::kUnavailable, "the copy of the history is not used: " + wrong);
  }
  // The log of the old one must not be taken for one of the new.
  for (const char* part : {"-wal", "-shm"}) {
    fs::remove(file + part, error);
    fs::remove(fresh + part, error);
  }
  fs::rename(fresh, file, error);
  if (error) return CopyFailed(fmt::format("{}: {}", file, error.message()));
  SyncToDisk(state_dir, O_RDONLY | O_DIRECTORY);
  return {};
}

}  // namespace gpuadvise::daemon
