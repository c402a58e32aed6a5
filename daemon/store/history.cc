#include "daemon/store/history.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/words.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

// Who runs at a moment was submitted so long before it at most.
constexpr int64_t kLongestQueueAndRun = int64_t{60} * 86'400;

int64_t BytesOnDisk(const std::string& file) {
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
  HistoryInfo info;
  info.file = file;
  info.bytes = BytesOnDisk(file);
  info.jobs = query.getColumn(0).getInt64();
  info.oldest = OptionalInteger(query.getColumn(1));
  info.newest = OptionalInteger(query.getColumn(2));
  return info;
}

}  // namespace

std::string HistoryInWords(const HistoryInfo& info, UnixSeconds now) {
  std::string words =
      fmt::format("{}, {:.1f} MB", info.file, static_cast<double>(info.bytes) / 1e6);
  if (info.max_bytes > 0) {
    words += fmt::format(" of {:.0f}", static_cast<double>(info.max_bytes) / 1e6);
  }
  words += ", " + Plural(info.jobs, "job");
  if (info.oldest) {
    words += fmt::format(", the oldest submitted {} ago",
                         DurationInWords(static_cast<double>(now - *info.oldest)));
  }
  return words;
}

History::History(HistoryFile file, const HistoryBounds& bounds)
    : file_(std::move(file)), bounds_(bounds) {}

History::~History() = default;  // the database is closed before the lock

Result<std::unique_ptr<History>> History::Open(const std::string& state_dir, UnixSeconds now,
                                               const HistoryBounds& bounds) {
  Result<HistoryFile> file = OpenHistoryFile(state_dir, now, bounds);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  std::unique_ptr<History> history(new History(std::move(*file), bounds));
  try {
    history->CountExperiments();
  } catch (const SQLite::Exception& failure) {
    return HistoryUnavailable(history->file_.path, failure);
  }
  return history;
}

Result<void> History::Save(const std::vector<PastJob>& jobs) {
  try {
    SQLite::Transaction all(*file_.database);
    // Whoever scored a forecast first has scored it, whatever is saved of the job later.
    SQLite::Statement row(
        *file_.database,
        fmt::format("INSERT OR REPLACE INTO job ({}, scored_by, saved_by) VALUES (?1,?2,?3,?4,?5,"
                    "?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,"
                    "?26,CASE WHEN ?21 IS NULL OR ?15 IS NULL THEN '' ELSE coalesce((SELECT "
                    "nullif(scored_by, '') FROM job WHERE job_id = ?1 AND submit = ?2), ?27) END,"
                    "?27)",
                    kJobColumns));
    for (const PastJob& job : jobs) {
      BindJob(row, job);
      row.bind(kJobColumnCount + 1, boot_);
      row.exec();
      row.reset();
    }
    all.commit();
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<int64_t> History::Complete(const std::vector<JobRecord>& jobs) {
  try {
    SQLite::Transaction all(*file_.database);
    SQLite::Statement known(*file_.database,
                            "SELECT end IS NOT NULL FROM job WHERE job_id = ? AND submit = ?");
    SQLite::Statement row(
        *file_.database,
        "INSERT INTO job (job_id, submit, array_job_id, name, user, account, qos, partition, gpu, "
        "nodes, cpus, gpus, limit_seconds, eligible, start, end, state, lost) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0) "
        "ON CONFLICT (job_id, submit) DO UPDATE SET "
        "start = excluded.start, end = excluded.end, state = excluded.state, lost = 0 "
        "WHERE excluded.end IS NOT NULL");
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
    return HistoryUnavailable(file_.path, error);
  }
}

Result<std::vector<PastJob>> History::Load(int64_t& unreadable) const {
  unreadable = 0;
  try {
    SQLite::Statement row(*file_.database,
                          fmt::format("SELECT {} FROM (SELECT {} FROM job ORDER BY "
                                      "submit DESC LIMIT ?) ORDER BY submit, job_id",
                                      kJobColumns, kJobColumns));
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
    return HistoryUnavailable(file_.path, error);
  }
}

Result<void> History::Prune(UnixSeconds before, UnixSeconds now, UnixSeconds claims_before) {
  try {
    SQLite::Transaction all(*file_.database);
    SQLite::Statement old(*file_.database, "DELETE FROM job WHERE submit < ?");
    old.bind(1, before);
    old.exec();
    SQLite::Statement log(*file_.database,
                          "DELETE FROM experiment WHERE submitted_at < ? "
                          "OR (seen = 0 AND submitted_at < ?)");
    log.bind(1, before);
    log.bind(2, claims_before);
    log.exec();
    SQLite::Statement detail(
        *file_.database,
        "UPDATE job SET detail = NULL WHERE detail IS NOT NULL AND (submit < ? "
        "OR submit < (SELECT submit FROM job WHERE detail IS NOT NULL "
        "ORDER BY submit DESC LIMIT 1 OFFSET ?))");
    detail.bind(1, now - kDetailSeconds);
    detail.bind(2, kDetailJobs);
    detail.exec();
    CountExperiments();
    KeepExperimentsWithinBounds();
    KeepJobsWithinBounds();
    all.commit();
    file_.database->exec("PRAGMA incremental_vacuum");
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<void> History::Note(const std::string& name, int64_t value) {
  try {
    SQLite::Statement row(*file_.database,
                          "INSERT OR REPLACE INTO note (name, value) VALUES (?, ?)");
    row.bind(1, name);
    row.bind(2, value);
    row.exec();
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<std::optional<int64_t>> History::Noted(const std::string& name) const {
  try {
    SQLite::Statement row(*file_.database, "SELECT value FROM note WHERE name = ?");
    row.bind(1, name);
    if (!row.executeStep()) return std::nullopt;
    return row.getColumn(0).getInt64();
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<HistoryInfo> History::Info() const {
  try {
    HistoryInfo info = InfoFrom(*file_.database, file_.path);
    info.max_bytes = bounds_.bytes;
    return info;
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<std::optional<HistoryInfo>> History::InfoOf(const std::string& state_dir) {
  const std::string file = HistoryPath(state_dir);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  if (IsNoPlainFile(file)) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{} is no plain file; move it away", file));
  }
  try {
    SQLite::Database database(file, SQLite::OPEN_READONLY, kHistoryBusyMilliseconds);
    return InfoFrom(database, file);
  } catch (const SQLite::Exception& failure) {
    return HistoryUnavailable(file, failure);
  }
}

Result<void> History::EachUsage(const std::function<void(const PastJob&)>& take) const {
  try {
    SQLite::Statement row(*file_.database,
                          "SELECT job_id, submit, gpu, gpus, eligible, start, end, lost FROM job "
                          "WHERE gpus > 0");
    PastJob job;
    JobRecord& record = job.record;
    while (row.executeStep()) {
      record.id = row.getColumn(0).getInt64();
      record.submit = row.getColumn(1).getInt64();
      record.gpu = row.getColumn(2).getString();
      record.gpus = row.getColumn(3).getInt64();
      record.eligible = row.getColumn(4).getInt64();
      record.start = OptionalInteger(row.getColumn(5));
      record.end = OptionalInteger(row.getColumn(6));
      job.lost = row.getColumn(7).getInt() != 0;
      take(job);
    }
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<void> History::Save(const std::vector<KeptExperiment>& experiments) {
  try {
    SQLite::Transaction all(*file_.database);
    SQLite::Statement known(*file_.database,
                            "SELECT bytes FROM experiment "
                            "WHERE job_id = ? AND uid = ? AND submitted_at = ?");
    SQLite::Statement gone(*file_.database,
                           "DELETE FROM experiment "
                           "WHERE job_id = ? AND uid = ? AND submitted_at = ?");
    SQLite::Statement row(*file_.database, kPutExperiment);
    for (const KeptExperiment& experiment : experiments) {
      for (SQLite::Statement* statement : {&known, &gone}) {
        statement->bind(1, experiment.job_id);
        statement->bind(2, experiment.uid);
        statement->bind(3, experiment.submitted_at);
      }
      int64_t more = known.executeStep() ? -known.getColumn(0).getInt64() : 0;
      known.reset();
      if (experiment.text.empty()) {
        gone.exec();
        gone.reset();
      } else {
        BindExperiment(row, experiment);
        row.bind(7, boot_);
        row.exec();
        row.reset();
        more += BytesOf(experiment);
      }
      experiment_bytes_of_[experiment.uid] += more;
      experiment_bytes_ += more;
    }
    KeepExperimentsWithinBounds();
    all.commit();
    return {};
  } catch (const SQLite::Exception& error) {
    try {
      CountExperiments();  // what was counted has not been written
    } catch (const SQLite::Exception&) {
    }
    return HistoryUnavailable(file_.path, error);
  }
}

Result<void> History::EachExperiment(const std::function<void(KeptExperiment)>& take) const {
  try {
    SQLite::Statement keys(*file_.database,
                           "SELECT rowid, uid, bytes FROM experiment ORDER BY submitted_at DESC");
    SQLite::Statement row(*file_.database,
                          "SELECT job_id, submitted_at, seen, text FROM experiment "
                          "WHERE rowid = ?");
    std::map<int64_t, int64_t> bytes_of;
    int64_t bytes = 0;
    while (keys.executeStep()) {
      const int64_t uid = keys.getColumn(1).getInt64();
      const int64_t more = keys.getColumn(2).getInt64();
      int64_t& own = bytes_of[uid];
      if (own + more > kLoadedExperimentBytesOfOne || bytes + more > kLoadedExperimentBytes) {
        own = kLoadedExperimentBytesOfOne;  // none that is older than one left out
        continue;
      }
      own += more;
      bytes += more;
      row.bind(1, keys.getColumn(0).getInt64());
      if (row.executeStep()) {
        take({row.getColumn(0).getInt64(), uid, row.getColumn(1).getInt64(),
              row.getColumn(3).getString(), row.getColumn(2).getInt() != 0});
      }
      row.reset();
    }
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<std::optional<KeptExperiment>> History::FindExperiment(int64_t job_id, int64_t uid) const {
  try {
    SQLite::Statement row(*file_.database,
                          "SELECT submitted_at, seen, text FROM experiment "
                          "WHERE job_id = ? AND uid = ? ORDER BY submitted_at DESC LIMIT 1");
    row.bind(1, job_id);
    row.bind(2, uid);
    if (!row.executeStep()) return std::nullopt;
    return KeptExperiment{job_id, uid, row.getColumn(0).getInt64(), row.getColumn(2).getString(),
                          row.getColumn(1).getInt() != 0};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

// ---- bounds --------------------------------------------------------------------------------

bool History::IsOverBounds() const {
  try {
    return BytesInUse() > bounds_.bytes;
  } catch (const SQLite::Exception&) {
    return false;  // whoever writes next says why
  }
}

int64_t History::BytesInUse() const {
  SQLite::Database& database = *file_.database;
  const int64_t pages = database.execAndGet("PRAGMA page_count").getInt64();
  const int64_t free_pages = database.execAndGet("PRAGMA freelist_count").getInt64();
  return (pages - free_pages) * database.execAndGet("PRAGMA page_size").getInt64();
}

void History::CountExperiments() {
  experiment_bytes_of_.clear();
  experiment_bytes_ = 0;
  SQLite::Statement users(*file_.database, "SELECT uid, sum(bytes) FROM experiment GROUP BY uid");
  while (users.executeStep()) {
    const int64_t bytes = users.getColumn(1).getInt64();
    experiment_bytes_of_[users.getColumn(0).getInt64()] = bytes;
    experiment_bytes_ += bytes;
  }
}

void History::ForgetOldestExperimentOf(int64_t uid) {
  SQLite::Statement oldest(*file_.database,
                           "SELECT rowid, bytes FROM experiment WHERE uid = ? "
                           "ORDER BY submitted_at LIMIT 1");
  oldest.bind(1, uid);
  if (!oldest.executeStep()) {
    experiment_bytes_ -= std::exchange(experiment_bytes_of_[uid], 0);
    return;
  }
  SQLite::Statement gone(*file_.database, "DELETE FROM experiment WHERE rowid = ?");
  gone.bind(1, oldest.getColumn(0).getInt64());
  gone.exec();
  const int64_t bytes = oldest.getColumn(1).getInt64();
  experiment_bytes_of_[uid] -= bytes;
  experiment_bytes_ -= bytes;
}

void History::KeepExperimentsWithinBounds() {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  while (!experiment_bytes_of_.empty()) {
    const auto most =
        std::max_element(experiment_bytes_of_.begin(), experiment_bytes_of_.end(), less);
    const bool over = most->second > bounds_.experiment_bytes_of_one ||
                      experiment_bytes_ > bounds_.experiment_bytes();
    if (!over || most->second <= 0) break;
    ForgetOldestExperimentOf(most->first);
  }
}

// A twentieth of the jobs at a time, so that it is not done again with each one that comes.
void History::KeepJobsWithinBounds() {
  while (BytesInUse() > bounds_.bytes) {
    const int64_t jobs = file_.database->execAndGet("SELECT count(*) FROM job").getInt64();
    if (jobs == 0) break;
    SQLite::Statement oldest(*file_.database,
                             "DELETE FROM job WHERE submit <= "
                             "(SELECT submit FROM job ORDER BY submit LIMIT 1 OFFSET ?)");
    oldest.bind(1, jobs / 20);
    oldest.exec();
  }
}

Result<std::vector<JobRecord>> History::RecordsOf(const std::vector<int64_t>& job_ids) const {
  try {
    SQLite::Statement row(
        *file_.database,
        fmt::format("SELECT {} FROM job WHERE job_id = ? ORDER BY submit", kJobColumns));
    std::vector<JobRecord> records;
    for (const int64_t id : job_ids) {
      row.bind(1, id);
      while (row.executeStep()) records.push_back(ReadRecord(row));
      row.reset();
    }
    return records;
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<std::vector<JobRecord>> History::RunsOf(const std::string& user, UnixSeconds since,
                                               size_t most) const {
  try {
    SQLite::Statement row(
        *file_.database,
        fmt::format("SELECT {} FROM job WHERE submit >= ? AND user = ? AND start IS NOT NULL AND "
                    "end IS NOT NULL AND limit_seconds > 0 ORDER BY submit DESC, job_id DESC "
                    "LIMIT ?",
                    kJobColumns));
    row.bind(1, since);
    row.bind(2, user);
    row.bind(3, static_cast<int64_t>(most));
    std::vector<JobRecord> records;
    while (row.executeStep()) records.push_back(ReadRecord(row));
    std::reverse(records.begin(), records.end());
    return records;
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<void> History::EachRun(UnixSeconds since, const std::string& user,
                              const std::function<bool(const Run&)>& take) const {
  try {
    SQLite::Statement row(
        *file_.database, fmt::format("SELECT account, gpu, gpus, start, end FROM job WHERE "
                                     "submit >= ? AND start IS NOT NULL AND end > ? AND gpus > 0{}",
                                     user.empty() ? "" : " AND user = ?"));
    row.bind(1, since - kLongestQueueAndRun);
    row.bind(2, since);
    if (!user.empty()) row.bind(3, user);
    while (row.executeStep()) {
      const Run run{row.getColumn(0).getString(), row.getColumn(1).getString(),
                    row.getColumn(2).getInt64(), row.getColumn(3).getInt64(),
                    row.getColumn(4).getInt64()};
      if (!take(run)) break;
    }
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

Result<History::RanSince> History::EverybodySince(UnixSeconds from, size_t most) const {
  try {
    RanSince ran{from, {}};
    SQLite::Statement first(*file_.database,
                            "SELECT submit FROM job WHERE submit >= ? AND start IS NOT NULL "
                            "ORDER BY submit DESC LIMIT 1 OFFSET ?");
    first.bind(1, from);
    first.bind(2, static_cast<int64_t>(most));
    if (first.executeStep()) ran.from = first.getColumn(0).getInt64() + 1;
    SQLite::Statement row(
        *file_.database,
        fmt::format("SELECT {} FROM job WHERE submit >= ? AND start IS NOT NULL AND end > ? "
                    "ORDER BY submit, job_id",
                    kJobColumns));
    row.bind(1, ran.from - kLongestQueueAndRun);
    row.bind(2, ran.from);
    while (row.executeStep()) {
      PastJob job;
      if (ReadJob(row, job)) ran.jobs.push_back(std::move(job));
    }
    return ran;
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_.path, error);
  }
}

}  // namespace gpuadvise::daemon
