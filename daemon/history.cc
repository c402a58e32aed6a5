#include "daemon/history.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/words.h"
#include "daemon/history_detail.h"

namespace gpuadvise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "history.db";
constexpr int kBusyMilliseconds = 5'000;

constexpr const char* kSchema = R"sql(
CREATE TABLE job (
  job_id        INTEGER NOT NULL,
  submit        INTEGER NOT NULL,  -- unix seconds, as all times here
  array_job_id  INTEGER NOT NULL,
  name          TEXT NOT NULL,
  user          TEXT NOT NULL,
  account       TEXT NOT NULL,
  qos           TEXT NOT NULL,
  partition     TEXT NOT NULL,
  gpu           TEXT NOT NULL,     -- GRES type
  nodes         INTEGER NOT NULL,
  cpus          INTEGER NOT NULL,
  gpus          INTEGER NOT NULL,
  limit_seconds INTEGER,           -- NULL: none, or not known
  eligible      INTEGER NOT NULL,
  start         INTEGER,
  end           INTEGER,           -- without a start: it left the queue then
  lost          INTEGER NOT NULL,  -- left while nobody watched; when is not known
  slurm_said    INTEGER,           -- the first StartTime that Slurm published
  said_p10      REAL,              -- forecast wait from eligible, seconds; NULL: none
  said_p50      REAL,
  said_p90      REAL,
  said_mean     REAL,
  said_group    INTEGER,
  detail        BLOB,              -- to learn from (history_detail.h); NULL: too old, or none
  PRIMARY KEY (job_id, submit)
) WITHOUT ROWID;
CREATE INDEX job_submit ON job(submit);
CREATE TABLE note (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
)sql";

constexpr const char* kColumns =
    "job_id, submit, array_job_id, name, user, account, qos, partition, gpu, nodes, cpus, gpus, "
    "limit_seconds, eligible, start, end, lost, slurm_said, said_p10, said_p50, said_p90, "
    "said_mean, said_group, detail";

/// The name of a network file system of this type; nullptr: it is none.
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

tl::unexpected<Error> Unavailable(const std::string& file, const SQLite::Exception& error) {
  std::string remedy;
  if (error.getErrorCode() == SQLITE_FULL) remedy = "; make room on its disk";
  if (error.getErrorCode() == SQLITE_READONLY || error.getErrorCode() == SQLITE_CANTOPEN) {
    remedy = "; the daemon's user must be able to write it and its folder";
  }
  return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}{}", file, error.what(), remedy));
}

std::unique_ptr<SQLite::Database> OpenFile(const std::string& file) {
  auto database = std::make_unique<SQLite::Database>(
      file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds);
  database->exec("PRAGMA journal_mode = WAL");
  database->exec("PRAGMA synchronous = NORMAL");
  database->exec("PRAGMA journal_size_limit = 16777216");
  return database;
}

/// What is wrong with an open file: "" nothing, it is ours.
std::string WhatIsWrong(SQLite::Database& database) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version > kHistoryVersion) {
    return fmt::format("was written by a newer gpuadvised (version {}, this one knows {})", version,
                       kHistoryVersion);
  }
  const std::string found = database.execAndGet("PRAGMA quick_check(1)").getString();
  if (found != "ok") return "is damaged: " + found;
  if (version == 0 && database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0) {
    return "is a database of something else";
  }
  return "";
}

void MakeTables(SQLite::Database& database) {
  if (database.execAndGet("PRAGMA user_version").getInt() == kHistoryVersion) return;
  SQLite::Transaction all(database);
  database.exec(kSchema);
  database.exec(fmt::format("PRAGMA user_version = {}", kHistoryVersion));
  all.commit();
}

/// Moves `file` and its log out of the way; where it lies now.
std::string SetAside(const std::string& file, UnixSeconds now) {
  std::string aside = fmt::format("{}.aside-{}", file, now);
  for (int i = 1; fs::exists(aside); ++i) aside = fmt::format("{}.aside-{}-{}", file, now, i);
  for (const char* part : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    fs::rename(file + part, aside + part, ignored);
  }
  return aside;
}

bool IsTorn(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_CORRUPT || error.getErrorCode() == SQLITE_NOTADB;
}

void BindOptional(SQLite::Statement& statement, int index, const std::optional<int64_t>& value) {
  if (value) {
    statement.bind(index, *value);
  } else {
    statement.bind(index);
  }
}

void BindRecord(SQLite::Statement& row, const JobRecord& job) {
  int at = 0;
  row.bind(++at, job.id);
  row.bind(++at, job.submit);
  row.bind(++at, job.array_job_id);
  for (const std::string* text :
       {&job.name, &job.user, &job.account, &job.qos, &job.partition, &job.gpu}) {
    row.bind(++at, *text);
  }
  row.bind(++at, job.nodes);
  row.bind(++at, job.cpus);
  row.bind(++at, job.gpus);
  BindOptional(
      row, ++at,
      job.limit_seconds.has_value() ? std::optional(job.limit_seconds.value()) : std::nullopt);
  row.bind(++at, job.eligible);
  BindOptional(row, ++at, job.start);
  BindOptional(row, ++at, job.end);
}

void BindJob(SQLite::Statement& row, const PastJob& job) {
  BindRecord(row, job.record);
  int at = 16;
  row.bind(++at, job.lost ? 1 : 0);
  BindOptional(row, ++at, job.slurm_said);
  if (job.said) {
    for (const double said : {job.said->p10, job.said->p50, job.said->p90, job.said->mean}) {
      row.bind(++at, said);
    }
    row.bind(++at, static_cast<int>(job.said->group));
  } else {
    for (int i = 0; i < 5; ++i) row.bind(++at);
  }
  const std::vector<uint8_t> detail = EncodeDetail(job);
  if (detail.empty()) {
    row.bind(++at);
  } else {
    row.bind(++at, detail.data(), static_cast<int>(detail.size()));
  }
}

std::optional<int64_t> OptionalOf(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional(column.getInt64());
}

JobRecord RecordOf(SQLite::Statement& row) {
  int at = 0;
  JobRecord job;
  job.id = row.getColumn(at++).getInt64();
  job.submit = row.getColumn(at++).getInt64();
  job.array_job_id = row.getColumn(at++).getInt64();
  for (std::string* text :
       {&job.name, &job.user, &job.account, &job.qos, &job.partition, &job.gpu}) {
    *text = row.getColumn(at++).getString();
  }
  job.nodes = row.getColumn(at++).getInt64();
  job.cpus = row.getColumn(at++).getInt64();
  job.gpus = row.getColumn(at++).getInt64();
  if (const auto limit = OptionalOf(row.getColumn(at++))) job.limit_seconds = *limit;
  job.eligible = row.getColumn(at++).getInt64();
  job.start = OptionalOf(row.getColumn(at++));
  job.end = OptionalOf(row.getColumn(at++));
  return job;
}

bool ReadJob(SQLite::Statement& row, PastJob& job) {
  job.record = RecordOf(row);
  int at = 16;
  job.lost = row.getColumn(at++).getInt() != 0;
  job.slurm_said = OptionalOf(row.getColumn(at++));
  if (!row.getColumn(at).isNull()) {
    SaidWait said;
    said.p10 = row.getColumn(at).getDouble();
    said.p50 = row.getColumn(at + 1).getDouble();
    said.p90 = row.getColumn(at + 2).getDouble();
    said.mean = row.getColumn(at + 3).getDouble();
    const int group = row.getColumn(at + 4).getInt();
    if (group < 0 || group > 2) return false;
    said.group = static_cast<WaitGroup>(group);
    job.said = said;
  }
  const SQLite::Column detail = row.getColumn(at + 5);
  if (detail.isNull()) return true;
  return DecodeDetail(
      {static_cast<const uint8_t*>(detail.getBlob()), static_cast<size_t>(detail.getBytes())}, job);
}

int64_t BytesOf(const std::string& file) {
  int64_t bytes = 0;
  for (const char* part : {"", "-wal"}) {
    std::error_code error;
    const auto size = fs::file_size(file + part, error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

HistoryInfo InfoFrom(SQLite::Database& database, const std::string& file) {
  SQLite::Statement query(database, "SELECT count(*), min(submit), max(submit) FROM job");
  query.executeStep();
  return {file, BytesOf(file), query.getColumn(0).getInt64(), OptionalOf(query.getColumn(1)),
          OptionalOf(query.getColumn(2))};
}

}  // namespace

std::string HistoryInWords(const HistoryInfo& info, UnixSeconds now) {
  std::string words = fmt::format("{}, {:.1f} MB, {}", info.file,
                                  static_cast<double>(info.bytes) / 1e6, Plural(info.jobs, "job"));
  if (info.oldest) {
    words += fmt::format(", the oldest submitted {} ago",
                         DurationInWords(static_cast<double>(now - *info.oldest)));
  }
  return words;
}

History::History(std::string file, int lock, std::unique_ptr<SQLite::Database> database,
                 std::string set_aside)
    : file_(std::move(file)),
      lock_(lock),
      database_(std::move(database)),
      set_aside_(std::move(set_aside)) {}

History::~History() {
  database_.reset();
  close(lock_);
}

Result<std::unique_ptr<History>> History::Open(const std::string& state_dir, UnixSeconds now) {
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
  const std::string file = (fs::path(state_dir) / kFileName).string();
  const int lock = open((file + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{}.lock: {}; the daemon's user must be able to write state_dir", file,
                            std::strerror(errno)));
  }
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("{} is in use by another gpuadvised; give each its own state_dir", file));
  }
  std::string set_aside;
  for (int attempt = 0;; ++attempt) {
    std::string wrong;
    try {
      auto database = OpenFile(file);
      wrong = WhatIsWrong(*database);
      if (wrong.empty()) {
        MakeTables(*database);
        return std::unique_ptr<History>(
            new History(file, lock, std::move(database), std::move(set_aside)));
      }
    } catch (const SQLite::Exception& failure) {
      if (!IsTorn(failure) || attempt > 0) {
        close(lock);
        return Unavailable(file, failure);
      }
      wrong = fmt::format("is damaged: {}", failure.what());
    }
    set_aside = fmt::format("{} {}; it lies now at {}, and a new history has begun", file, wrong,
                            SetAside(file, now));
  }
}

Result<void> History::Save(const std::vector<PastJob>& jobs) {
  try {
    SQLite::Transaction all(*database_);
    SQLite::Statement row(*database_,
                          fmt::format("INSERT OR REPLACE INTO job ({}) VALUES (?,?,?,?,?,"
                                      "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                      kColumns));
    for (const PastJob& job : jobs) {
      BindJob(row, job);
      row.exec();
      row.reset();
    }
    all.commit();
    return {};
  } catch (const SQLite::Exception& error) {
    return Unavailable(file_, error);
  }
}

Result<int64_t> History::Complete(const std::vector<JobRecord>& jobs) {
  try {
    SQLite::Transaction all(*database_);
    SQLite::Statement known(*database_,
                            "SELECT end IS NOT NULL FROM job WHERE job_id = ? AND submit = ?");
    SQLite::Statement row(
        *database_,
        "INSERT INTO job (job_id, submit, array_job_id, name, user, account, qos, partition, gpu, "
        "nodes, cpus, gpus, limit_seconds, eligible, start, end, lost) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0) "
        "ON CONFLICT (job_id, submit) DO UPDATE SET "
        "start = excluded.start, end = excluded.end, lost = 0 WHERE excluded.end IS NOT NULL");
    int64_t news = 0;
    for (const JobRecord& job : jobs) {
      if (!job.end) continue;  // snapshots follow those that are not over
      known.bind(1, job.id);
      known.bind(2, job.submit);
      const bool seen = known.executeStep() && known.getColumn(0).getInt() != 0;
      known.reset();
      BindRecord(row, job);
      row.exec();
      row.reset();
      if (!seen && job.start) ++news;
    }
    all.commit();
    return news;
  } catch (const SQLite::Exception& error) {
    return Unavailable(file_, error);
  }
}

Result<std::vector<PastJob>> History::Load(int64_t& unreadable) const {
  unreadable = 0;
  try {
    SQLite::Statement row(*database_, fmt::format("SELECT {} FROM (SELECT {} FROM job ORDER BY "
                                                  "submit DESC LIMIT ?) ORDER BY submit, job_id",
                                                  kColumns, kColumns));
    row.bind(1, kLoadedJobs);
    std::vector<PastJob> jobs;
    while (row.executeStep()) {
      PastJob job;
      if (ReadJob(row, job)) {
        jobs.push_back(std::move(job));
      } else {
        ++unreadable;
      }
    }
    return jobs;
  } catch (const SQLite::Exception& error) {
    return Unavailable(file_, error);
  }
}

Result<void> History::Prune(UnixSeconds before, UnixSeconds now) {
  try {
    SQLite::Transaction all(*database_);
    SQLite::Statement old(*database_, "DELETE FROM job WHERE submit < ?");
    old.bind(1, before);
    old.exec();
    SQLite::Statement detail(
        *database_,
        "UPDATE job SET detail = NULL WHERE detail IS NOT NULL AND (submit < ? "
        "OR submit < (SELECT submit FROM job WHERE detail IS NOT NULL "
        "ORDER BY submit DESC LIMIT 1 OFFSET ?))");
    detail.bind(1, now - kDetailSeconds);
    detail.bind(2, kDetailJobs);
    detail.exec();
    all.commit();
    return {};
  } catch (const SQLite::Exception& error) {
    return Unavailable(file_, error);
  }
}

Result<void> History::Note(const std::string& name, int64_t value) {
  try {
    SQLite::Statement row(*database_, "INSERT OR REPLACE INTO note (name, value) VALUES (?, ?)");
    row.bind(1, name);
    row.bind(2, value);
    row.exec();
    return {};
  } catch (const SQLite::Exception& error) {
    return Unavailable(file_, error);
  }
}

Result<std::optional<int64_t>> History::Noted(const std::string& name) const {
  try {
    SQLite::Statement row(*database_, "SELECT value FROM note WHERE name = ?");
    row.bind(1, name);
    if (!row.executeStep()) return std::nullopt;
    return row.getColumn(0).getInt64();
  } catch (const SQLite::Exception& error) {
    return Unavailable(file_, error);
  }
}

Result<HistoryInfo> History::Info() const {
  try {
    return InfoFrom(*database_, file_);
  } catch (const SQLite::Exception& error) {
    return Unavailable(file_, error);
  }
}

Result<std::optional<HistoryInfo>> History::InfoOf(const std::string& state_dir) {
  const std::string file = (fs::path(state_dir) / kFileName).string();
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  try {
    SQLite::Database database(file, SQLite::OPEN_READONLY, kBusyMilliseconds);
    return InfoFrom(database, file);
  } catch (const SQLite::Exception& failure) {
    return Unavailable(file, failure);
  }
}

}  // namespace gpuadvise
