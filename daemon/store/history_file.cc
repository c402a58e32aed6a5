#include "daemon/store/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/words.h"
#include "common/runs/experiment.h"
#include "daemon/store/history_rows.h"
#include "daemon/store/sqlite_statement.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "history.db";
constexpr mode_t kMode = S_IRUSR | S_IWUSR;

// Name of the network file system of this type; nullptr: local.
const char* NetworkFileSystem(const std::string& folder) {
  struct statfs about {};
  if (statfs(folder.c_str(), &about) != 0) return nullptr;
  switch (static_cast<uint32_t>(about.f_type)) {
    case NFS_SUPER_MAGIC:
      return "NFS";
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
      return "SMB";
    case CEPH_SUPER_MAGIC:
      return "CephFS";
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
      return "AFS";
    case V9FS_MAGIC:
      return "9P";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0x19830326:
      return "BeeGFS";
    default:
      return nullptr;
  }
}

// Restricts the file to the daemon's user. Leaves files of other users unchanged.
void MakePrivate(const std::string& file) {
  for (const char* part : {"", "-wal", "-shm"}) {
    const Descriptor open_file(
        open((file + part).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat about {};
    if (!open_file || fstat(open_file.get(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    static_cast<void>(fchmod(open_file.get(), kMode));
  }
}

// Makes an empty file where there is none: SQLite would use the umask, and gives what it puts
// beside a file the file's own permissions. Closed at once: a later close would take SQLite's locks
// away.
void BeginFile(const std::string& file) {
  const Descriptor begun(
      open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
}

std::unique_ptr<SQLite::Database> OpenFile(const std::string& file) {
  BeginFile(file);
  MakePrivate(file);
  auto database = std::make_unique<SQLite::Database>(
      file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kHistoryBusyMilliseconds);
  database->exec("PRAGMA auto_vacuum = INCREMENTAL");  // of a new file: before all else
  database->exec("PRAGMA journal_mode = WAL");
  database->exec("PRAGMA synchronous = NORMAL");
  database->exec("PRAGMA journal_size_limit = 16777216");
  return database;
}

int VersionOf(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt();
}

// Whether all pages that the file says it has are in it. SQLite notices a cut through the last one
// only when it writes there, from 3.53 on.
bool IsWhole(SQLite::Database& database) {
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const int64_t page_bytes = database.execAndGet("PRAGMA page_size").getInt64();
  const int64_t pages = database.execAndGet("PRAGMA page_count").getInt64();
  std::error_code unknown;
  const uintmax_t bytes = fs::file_size(database.getFilename(), unknown);
  return unknown || static_cast<int64_t>(bytes) >= pages * page_bytes;
}

// Why an open file is unusable; "": it is ours.
std::string WhatIsWrong(SQLite::Database& database) {
  const int version = VersionOf(database);
  if (version > kHistoryVersion) {
    return fmt::format("was written by a newer gpuadvised (version {}, this one knows {})", version,
                       kHistoryVersion);
  }
  if (version < 0) return fmt::format("is damaged: there is no version {}", version);
  const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (version == 0 && !empty) return "is a database of something else";
  // An older one is read anyway, as far as it is kept, and may be much larger than that.
  if (version > 0 && version < kHistoryVersion) return "";
  const std::string found = database.execAndGet("PRAGMA quick_check(1)").getString();
  if (found != "ok") return "is damaged: " + found;
  return IsWhole(database) ? "" : "is damaged: it ends inside a page";
}

void MakeTables(SQLite::Database& database) {
  database.exec(HistorySchema(kSqliteTypes));
  database.exec(fmt::format("PRAGMA user_version = {}", kHistoryVersion));
}

// ---- an older version ----------------------------------------------------------------------

// Adds columns missing before version 3.
void MakeThirdVersion(SQLite::Database& database) {
  const int version = VersionOf(database);
  if (version >= 3) return;
  SQLite::Transaction all(database);
  if (version < 2) database.exec(kSecondVersion);
  database.exec(kThirdVersion);
  database.exec("PRAGMA user_version = 3");
  all.commit();
}

// Converts a row to the current form; nullopt if unreadable.
std::optional<KeptExperiment> Renewed(const std::string& text) {
  Result<Experiment> experiment = ExperimentFromText(text);
  if (!experiment) return std::nullopt;
  KeepOnlyWhatCounts(*experiment);
  const JobTimes& times = experiment->times;
  const bool seen = times.start || times.end || times.eligible || experiment->outcome;
  return KeptExperiment{experiment->job_id, experiment->uid, experiment->submitted_at,
                        ToText(*experiment), seen};
}

// Most text read from an older log: about ten seconds at start.
constexpr int64_t kMostRewrittenBytes = int64_t{128} << 20;

int64_t MostExperimentBytes(const HistoryBounds& bounds) {
  return std::min(bounds.experiment_bytes(), kMostRewrittenBytes);
}

// The experiments of the attached `old`, each user's newest first, always of the user who has
// fewest bytes so far: where not all fit into `bounds`, who has most loses their oldest. Texts
// beyond them are not read.
void CopyExperiments(SQLite::Database& into, const std::string& file, const HistoryBounds& bounds) {
  struct OfUser {
    int64_t bytes = 0;
    std::deque<std::pair<int64_t, UnixSeconds>> rows;  // job id, submission
  };
  std::map<int64_t, OfUser> users;
  int64_t left = 0;
  SQLite::Statement keys(into,
                         "SELECT uid, job_id, submitted_at FROM old.experiment "
                         "ORDER BY submitted_at DESC");
  for (; keys.executeStep(); ++left) {
    users[keys.getColumn(0).getInt64()].rows.emplace_back(keys.getColumn(1).getInt64(),
                                                          keys.getColumn(2).getInt64());
  }
  std::set<std::pair<int64_t, int64_t>> next;  // bytes, uid
  for (const auto& [uid, user] : users) next.emplace(0, uid);
  SQLite::Statement text(
      into, "SELECT text FROM old.experiment WHERE uid = ? AND job_id = ? AND submitted_at = ?");
  SqliteStatement row(into, file, kPutExperiment);
  int64_t bytes = 0;
  int64_t unreadable = 0;
  while (!next.empty() && bytes < MostExperimentBytes(bounds)) {
    const int64_t uid = next.extract(next.begin()).value().second;
    OfUser& user = users[uid];
    text.bind(1, uid);
    text.bind(2, user.rows.front().first);
    text.bind(3, user.rows.front().second);
    user.rows.pop_front();
    --left;
    if (text.executeStep()) {
      const std::string before = text.getColumn(0).getString();
      user.bytes += static_cast<int64_t>(before.size());
      bytes += static_cast<int64_t>(before.size());
      if (const auto kept = Renewed(before)) {
        BindExperiment(row, *kept);
        row.Run();
      } else {
        ++unreadable;
      }
    }
    text.reset();
    const bool more = !user.rows.empty() && user.bytes < bounds.experiment_bytes_of_one;
    if (more) next.emplace(user.bytes, uid);
  }
  if (left > 0) {
    spdlog::warn(
        "{} of the experiment log of {} are beyond what is kept: left out, the oldest of "
        "who has most",
        Plural(left, "row"), file);
  }
  if (unreadable > 0) {
    spdlog::warn("{} of the experiment log of {} cannot be read: left out",
                 Plural(unreadable, "row"), file);
  }
}

// Refuses to begin a copy of the attached `old`, which is `file`, that would fill the disk: others
// write there too.
void CheckRoom(SQLite::Database& database, const std::string& file, const HistoryBounds& bounds) {
  constexpr int64_t kBesideDetail = 400;  // of a job: its other columns, and its part of the index
  struct statvfs about {};
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(file, error));
  if (error || statvfs(fs::path(file).parent_path().c_str(), &about) != 0) return;
  const int64_t jobs =
      database
          .execAndGet(
              fmt::format("SELECT coalesce(sum({} + coalesce(length(detail), 0)), 0) FROM old.job",
                          kBesideDetail))
          .getInt64();
  const int64_t needed = std::min(size, jobs + MostExperimentBytes(bounds));
  const auto room = static_cast<int64_t>(about.f_bavail * about.f_frsize);
  if (needed <= room) return;
  throw SQLite::Exception(
      fmt::format("it is of an older version, and its copy in the present one takes up to {} MB; "
                  "{} MB are free",
                  (needed + 999'999) / 1'000'000, room / 1'000'000),
      SQLITE_FULL);
}

void SyncFile(const std::string& path, int flags) {
  const Descriptor file(open(path.c_str(), flags | O_CLOEXEC));
  if (!file || fsync(file.get()) != 0) {
    throw SQLite::Exception(fmt::format("it cannot be written: {}", std::strerror(errno)),
                            SQLITE_FULL);
  }
}

// A file removed on destruction unless moved away.
class PassingFile {
 public:
  explicit PassingFile(std::string path) : path_(std::move(path)) { Remove(); }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  ~PassingFile() { Remove(); }

 private:
  void Remove() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

  const std::string path_;
};

// Rewrites the older `file` into a new one that replaces it.
void Rewrite(const std::string& file, const HistoryBounds& bounds) {
  const std::string fresh = file + ".new";
  const PassingFile half(fresh);  // one that cannot be finished would keep the disk full
  std::error_code ignored;
  {
    BeginFile(fresh);
    SQLite::Database into(fresh, SQLite::OPEN_READWRITE, kHistoryBusyMilliseconds);
    into.exec("PRAGMA auto_vacuum = INCREMENTAL");
    into.exec("PRAGMA journal_mode = OFF");  // until it is whole it counts for nothing
    into.exec("PRAGMA synchronous = OFF");
    SQLite::Statement attach(into, "ATTACH ? AS old");
    attach.bind(1, file);
    attach.exec();
    CheckRoom(into, file, bounds);
    SQLite::Transaction all(into);
    MakeTables(into);
    into.exec(fmt::format("INSERT INTO main.job ({0}) SELECT {0} FROM old.job", kJobColumns));
    into.exec("INSERT INTO main.note SELECT name, value FROM old.note");
    CopyExperiments(into, file, bounds);
    all.commit();
  }
  SyncFile(fresh, O_RDWR);
  // The log of the old one must not be taken for one of the new.
  for (const char* part : {"-wal", "-shm"}) fs::remove(file + part, ignored);
  fs::rename(fresh, file);
  SyncFile(fs::path(file).parent_path(), O_RDONLY | O_DIRECTORY);
}

// ---- setting aside -------------------------------------------------------------------------

// Moves `file` and its log aside; returns the new path.
std::string SetAside(const std::string& file, UnixSeconds now) {
  std::string aside = fmt::format("{}.aside-{}", file, now);
  for (int i = 1; fs::exists(aside); ++i) aside = fmt::format("{}.aside-{}-{}", file, now, i);
  for (const char* part : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    fs::rename(file + part, aside + part, ignored);
  }
  return aside;
}

// Whether SQLite refuses the file because of its content.
bool IsTorn(const std::string& file, const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return true;
  const std::string_view said = error.what();
  if (code == SQLITE_ERROR) return said.find("unsupported file format") != std::string_view::npos;
  // Its header forbids writing, the file system does not.
  return code == SQLITE_READONLY && access(file.c_str(), R_OK | W_OK) == 0 &&
         access(fs::path(file).parent_path().c_str(), W_OK) == 0;
}

// The database in `file`, with all tables. `wrong`: why it cannot be used where it is null.
std::unique_ptr<SQLite::Database> OpenNewest(const std::string& file, const HistoryBounds& bounds,
                                             std::string& wrong) {
  auto database = OpenFile(file);
  wrong = WhatIsWrong(*database);
  if (!wrong.empty()) return nullptr;
  const int version = VersionOf(*database);
  if (version == kHistoryVersion) return database;
  if (version >= 4) {
    SQLite::Transaction all(*database);
    database->exec(kSixthVersion);
    database->exec(fmt::format("PRAGMA user_version = {}", kHistoryVersion));
    all.commit();
    return database;
  }
  if (version > 0) {
    MakeThirdVersion(*database);
    database.reset();
    Rewrite(file, bounds);
    return OpenFile(file);
  }
  SQLite::Transaction all(*database);
  MakeTables(*database);
  all.commit();
  return database;
}

Result<Descriptor> LockFile(const std::string& file) {
  const std::string path = file + ".lock";
  Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, kMode));
  if (!lock) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{}: {}; {}", path, std::strerror(errno),
                            errno == ENOSPC || errno == EDQUOT
                                ? "make room on its disk"
                                : "the daemon's user must be able to write state_dir"));
  }
  static_cast<void>(fchmod(lock.get(), kMode));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("{} is in use by another gpuadvised; give each its own state_dir", file));
  }
  return lock;
}

}  // namespace

int64_t HistoryBytesOnDisk(const std::string& file) {
  int64_t bytes = 0;
  for (const char* part : {"", "-wal"}) {
    std::error_code error;
    const auto size = fs::file_size(file + part, error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

std::string HistoryPath(const std::string& state_dir) {
  return (fs::path(state_dir) / kFileName).string();
}

bool IsNoPlainFile(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode);
}

Result<HistoryFile> OpenHistoryFile(const std::string& state_dir, UnixSeconds now,
                                    const HistoryBounds& bounds) {
  std::error_code error;
  fs::create_directories(state_dir, error);
  if (error) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("state_dir {} cannot be made: {}; make it and give it to the daemon's "
                            "user, or set another state_dir",
                            state_dir, error.message()));
  }
  if (const char* kind = NetworkFileSystem(state_dir)) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("state_dir {} lies on a network file system ({}), where a database can "
                            "be torn; set state_dir to a local disk",
                            state_dir, kind));
  }
  const std::string file = HistoryPath(state_dir);
  if (IsNoPlainFile(file)) {
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("{} is not a regular file (`ls -ld` says what it is); move it away, and a "
                    "history is begun there",
                    file));
  }
  Result<Descriptor> lock = LockFile(file);
  if (!lock) return tl::unexpected<Error>(std::move(lock.error()));
  std::string set_aside;
  for (int attempt = 0;; ++attempt) {
    std::string wrong;
    try {
      if (auto database = OpenNewest(file, bounds, wrong)) {
        database->exec(kArrayIndex);
        return HistoryFile{file, std::move(*lock), std::move(database), std::move(set_aside)};
      }
    } catch (const SQLite::Exception& failure) {
      if (!IsTorn(file, failure) || attempt > 0) return HistoryUnavailable(file, failure);
      wrong = fmt::format("is damaged: {}", failure.what());
    } catch (const DatabaseFailure& failure) {  // of the copy of an older version
      return HistoryUnavailable(failure);
    } catch (const fs::filesystem_error& failure) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{}: {}; the daemon's user must be able to write its folder", file,
                              failure.code().message()));
    }
    set_aside = fmt::format("{} {}; it lies now at {}, and a new history has begun", file, wrong,
                            SetAside(file, now));
  }
}

}  // namespace gpuadvise::daemon
