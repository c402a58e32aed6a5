#include "daemon/store/history.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/words.h"
#include "daemon/store/postgres_database.h"
#include "daemon/store/sqlite_database.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

// Longest time between submission and the moment when a job still runs.
constexpr int64_t kLongestQueueAndRun = int64_t{60} * 86'400;

HistoryInfo InfoFrom(HistoryDatabase& database) {
  const auto query = database.Prepare("SELECT count(*), min(submit), max(submit) FROM job");
  query->Step();
  HistoryInfo info;
  info.file = database.place();
  info.bytes = database.BytesOnDisk();
  info.jobs = query->Integer(0);
  info.oldest = query->OptionalInteger(1);
  info.newest = query->OptionalInteger(2);
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

History::History(std::unique_ptr<HistoryDatabase> database, std::string set_aside,
                 const HistoryBounds& bounds)
    : database_(std::move(database)), set_aside_(std::move(set_aside)), bounds_(bounds) {}

History::~History() = default;

Result<std::unique_ptr<History>> History::Open(const std::string& state_dir, UnixSeconds now,
                                               const HistoryBounds& bounds) {
  Result<HistoryFile> file = OpenHistoryFile(state_dir, now, bounds);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  std::string set_aside = std::move(file->set_aside);
  return With(std::make_unique<SqliteDatabase>(std::move(*file)), std::move(set_aside), bounds);
}

#ifdef GPUADVISE_STATIC  // ReadPostgresUrl() has refused every URL
Result<std::unique_ptr<History>> History::OpenPostgres(const PostgresPlace&, const HistoryBounds&) {
  return BadInput(kNoPostgres);
}

Result<std::optional<HistoryInfo>> History::InfoOf(const PostgresPlace&) {
  return BadInput(kNoPostgres);
}
#else
Result<std::unique_ptr<History>> History::OpenPostgres(const PostgresPlace& place,
                                                       const HistoryBounds& bounds) {
  Result<std::unique_ptr<PostgresDatabase>> database = PostgresDatabase::Open(place);
  if (!database) return tl::unexpected<Error>(std::move(database.error()));
  if (*database == nullptr) return nullptr;
  return With(std::move(*database), "", bounds);
}
#endif

Result<std::unique_ptr<History>> History::With(std::unique_ptr<HistoryDatabase> database,
                                               std::string set_aside, const HistoryBounds& bounds) {
  std::unique_ptr<History> history(new History(std::move(database), std::move(set_aside), bounds));
  try {
    history->CountExperiments();
  } catch (const DatabaseFailure& failure) {
    return HistoryUnavailable(failure);
  }
  return history;
}

Result<void> History::Check() const {
  try {
    database_->IntegerOf("SELECT 1");
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<void> History::Save(const std::vector<PastJob>& jobs) {
  try {
    HistoryTransaction all(*database_);
    const auto row = database_->Prepare(PutJob());
    for (const PastJob& job : jobs) {
      BindJob(*row, job);
      row->Run();
    }
    all.Commit();
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<int64_t> History::Complete(const std::vector<JobRecord>& jobs) {
  try {
    HistoryTransaction all(*database_);
    const auto known =
        database_->Prepare("SELECT count(\"end\") FROM job WHERE job_id = ? AND submit = ?");
    const auto row = database_->Prepare(
        "INSERT INTO job (job_id, submit, array_job_id, name, \"user\", account, qos, partition, "
        "gpu, nodes, cpus, gpus, limit_seconds, eligible, start, \"end\", state, lost) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0) "
        "ON CONFLICT (job_id, submit) DO UPDATE SET start = excluded.start, "
        "\"end\" = excluded.\"end\", state = excluded.state, lost = 0 "
        "WHERE excluded.\"end\" IS NOT NULL");
    int64_t news = 0;
    for (const JobRecord& job : jobs) {
      if (!job.end) continue;  // snapshots follow those that are not over
      known->BindInteger(1, job.id);
      known->BindInteger(2, job.submit);
      const bool seen = known->Step() && known->Integer(0) != 0;
      known->Reset();
      BindRecord(*row, job);
      row->Run();
      if (!seen && job.start) ++news;
    }
    all.Commit();
    return news;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<std::vector<PastJob>> History::Load(int64_t& unreadable) const {
  unreadable = 0;
  try {
    const auto row =
        database_->Prepare(fmt::format("SELECT {} FROM (SELECT {} FROM job ORDER BY submit DESC "
                                       "LIMIT ?) AS newest ORDER BY submit, job_id",
                                       kJobColumns, kJobColumns),
                           Rows::kMany);
    row->BindInteger(1, kLoadedJobs);
    std::vector<PastJob> jobs;
    while (row->Step()) {
      PastJob job;
      if (ReadJob(*row, job)) {
        jobs.push_back(std::move(job));
      } else {
        ++unreadable;
      }
    }
    return jobs;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<void> History::Prune(UnixSeconds before, UnixSeconds now, UnixSeconds claims_before) {
  try {
    HistoryTransaction all(*database_);
    const auto old = database_->Prepare("DELETE FROM job WHERE submit < ?");
    old->BindInteger(1, before);
    old->Run();
    const auto log = database_->Prepare(
        "DELETE FROM experiment WHERE submitted_at < ? "
        "OR (seen = 0 AND submitted_at < ?)");
    log->BindInteger(1, before);
    log->BindInteger(2, claims_before);
    log->Run();
    const auto detail = database_->Prepare(
        "UPDATE job SET detail = NULL WHERE detail IS NOT NULL AND (submit < ? "
        "OR submit < (SELECT submit FROM job WHERE detail IS NOT NULL "
        "ORDER BY submit DESC LIMIT 1 OFFSET ?))");
    detail->BindInteger(1, now - kDetailSeconds);
    detail->BindInteger(2, kDetailJobs);
    detail->Run();
    CountExperiments();
    KeepExperimentsWithinBounds();
    KeepJobsWithinBounds();
    all.Commit();
    database_->Vacuum();
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<void> History::Note(const std::string& name, int64_t value) {
  try {
    const auto row = database_->Prepare(
        "INSERT INTO note (name, value) VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value");
    row->BindText(1, name);
    row->BindInteger(2, value);
    row->Run();
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<std::optional<int64_t>> History::Noted(const std::string& name) const {
  try {
    const auto row = database_->Prepare("SELECT value FROM note WHERE name = ?");
    row->BindText(1, name);
    if (!row->Step()) return std::nullopt;
    return row->Integer(0);
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<HistoryInfo> History::Info() const {
  try {
    HistoryInfo info = InfoFrom(*database_);
    info.max_bytes = bounds_.bytes;
    return info;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<std::optional<HistoryInfo>> History::InfoOf(const std::string& state_dir) {
  const std::string file = HistoryPath(state_dir);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  if (IsNoPlainFile(file)) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} is not a regular file; move it away", file));
  }
  try {
    HistoryFile read;
    read.path = file;
    read.database =
        std::make_unique<SQLite::Database>(file, SQLite::OPEN_READONLY, kHistoryBusyMilliseconds);
    SqliteDatabase database(std::move(read));
    return InfoFrom(database);
  } catch (const SQLite::Exception& failure) {
    return HistoryUnavailable(file, failure);
  } catch (const DatabaseFailure& failure) {
    return HistoryUnavailable(failure);
  }
}

#ifndef GPUADVISE_STATIC
Result<std::optional<HistoryInfo>> History::InfoOf(const PostgresPlace& place) {
  Result<std::unique_ptr<PostgresDatabase>> database = PostgresDatabase::OpenToRead(place);
  if (!database) return tl::unexpected<Error>(std::move(database.error()));
  if (*database == nullptr) return std::nullopt;
  try {
    return InfoFrom(**database);
  } catch (const DatabaseFailure& failure) {
    return HistoryUnavailable(failure);
  }
}
#endif

Result<void> History::ForEachUsage(const std::function<void(const PastJob&)>& take) const {
  try {
    const auto row = database_->Prepare(
        "SELECT job_id, submit, gpu, gpus, eligible, start, \"end\", lost FROM job WHERE gpus > 0",
        Rows::kMany);
    PastJob job;
    JobRecord& record = job.record;
    while (row->Step()) {
      record.id = row->Integer(0);
      record.submit = row->Integer(1);
      record.gpu = row->Text(2);
      record.gpus = row->Integer(3);
      record.eligible = row->Integer(4);
      record.start = row->OptionalInteger(5);
      record.end = row->OptionalInteger(6);
      job.lost = row->Integer(7) != 0;
      take(job);
    }
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<void> History::Save(const std::vector<KeptExperiment>& experiments) {
  try {
    HistoryTransaction all(*database_);
    const auto known = database_->Prepare(
        "SELECT bytes FROM experiment "
        "WHERE job_id = ? AND uid = ? AND submitted_at = ?");
    const auto gone = database_->Prepare(
        "DELETE FROM experiment "
        "WHERE job_id = ? AND uid = ? AND submitted_at = ?");
    const auto row = database_->Prepare(kPutExperiment);
    for (const KeptExperiment& experiment : experiments) {
      for (const auto* statement : {&known, &gone}) {
        (*statement)->BindInteger(1, experiment.job_id);
        (*statement)->BindInteger(2, experiment.uid);
        (*statement)->BindInteger(3, experiment.submitted_at);
      }
      int64_t more = known->Step() ? -known->Integer(0) : 0;
      known->Reset();
      if (experiment.text.empty()) {
        gone->Run();
      } else {
        BindExperiment(*row, experiment);
        row->Run();
        more += BytesOf(experiment);
      }
      experiment_bytes_of_[experiment.uid] += more;
      experiment_bytes_ += more;
    }
    KeepExperimentsWithinBounds();
    all.Commit();
    return {};
  } catch (const DatabaseFailure& error) {
    try {
      CountExperiments();  // what was counted has not been written
    } catch (const DatabaseFailure&) {
    }
    return HistoryUnavailable(error);
  }
}

Result<void> History::EachExperiment(const std::function<void(KeptExperiment)>& take) const {
  try {
    const auto keys = database_->Prepare(
        "SELECT job_id, uid, submitted_at, bytes FROM experiment ORDER BY submitted_at DESC",
        Rows::kMany);
    const auto row = database_->Prepare(
        "SELECT seen, text FROM experiment WHERE job_id = ? AND uid = ? AND submitted_at = ?");
    std::map<int64_t, int64_t> bytes_of;
    int64_t bytes = 0;
    while (keys->Step()) {
      const int64_t uid = keys->Integer(1);
      const int64_t more = keys->Integer(3);
      int64_t& own = bytes_of[uid];
      if (own + more > kLoadedExperimentBytesOfOne || bytes + more > kLoadedExperimentBytes) {
        own = kLoadedExperimentBytesOfOne;  // none that is older than one left out
        continue;
      }
      own += more;
      bytes += more;
      for (const int key : {0, 1, 2}) row->BindInteger(key + 1, keys->Integer(key));
      if (row->Step()) {
        take({keys->Integer(0), uid, keys->Integer(2), row->Text(1), row->Integer(0) != 0});
      }
      row->Reset();
    }
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<std::optional<KeptExperiment>> History::FindExperiment(int64_t job_id, int64_t uid) const {
  try {
    const auto row = database_->Prepare(
        "SELECT submitted_at, seen, text FROM experiment "
        "WHERE job_id = ? AND uid = ? ORDER BY submitted_at DESC LIMIT 1");
    row->BindInteger(1, job_id);
    row->BindInteger(2, uid);
    if (!row->Step()) return std::nullopt;
    return KeptExperiment{job_id, uid, row->Integer(0), row->Text(2), row->Integer(1) != 0};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

// ---- bounds --------------------------------------------------------------------------------

bool History::IsOverBounds() const {
  try {
    return database_->CountsBytesCheaply() && database_->BytesInUse() > bounds_.bytes;
  } catch (const DatabaseFailure&) {
    return false;  // whoever writes next says why
  }
}

void History::CountExperiments() {
  experiment_bytes_of_.clear();
  experiment_bytes_ = 0;
  const auto users = database_->Prepare("SELECT uid, sum(bytes) FROM experiment GROUP BY uid");
  while (users->Step()) {
    const int64_t bytes = users->Integer(1);
    experiment_bytes_of_[users->Integer(0)] = bytes;
    experiment_bytes_ += bytes;
  }
}

void History::DeleteOldestExperiment(int64_t uid) {
  const auto oldest = database_->Prepare(
      "SELECT job_id, submitted_at, bytes FROM experiment WHERE uid = ? "
      "ORDER BY submitted_at, job_id LIMIT 1");
  oldest->BindInteger(1, uid);
  if (!oldest->Step()) {
    experiment_bytes_ -= std::exchange(experiment_bytes_of_[uid], 0);
    return;
  }
  const auto gone = database_->Prepare(
      "DELETE FROM experiment WHERE job_id = ? AND uid = ? AND submitted_at = ?");
  gone->BindInteger(1, oldest->Integer(0));
  gone->BindInteger(2, uid);
  gone->BindInteger(3, oldest->Integer(1));
  gone->Run();
  const int64_t bytes = oldest->Integer(2);
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
    DeleteOldestExperiment(most->first);
  }
}

// Deletes a twentieth of the jobs at once, so that not every new one triggers it.
void History::KeepJobsWithinBounds() {
  while (database_->BytesInUse() > bounds_.bytes) {
    const int64_t jobs = database_->IntegerOf("SELECT count(*) FROM job");
    if (jobs == 0) break;
    const auto oldest = database_->Prepare(
        "DELETE FROM job WHERE submit <= "
        "(SELECT submit FROM job ORDER BY submit LIMIT 1 OFFSET ?)");
    oldest->BindInteger(1, jobs / 20);
    oldest->Run();
  }
}

Result<std::vector<JobRecord>> History::RecordsOf(const std::vector<int64_t>& job_ids) const {
  try {
    const auto row = database_->Prepare(
        fmt::format("SELECT {} FROM job WHERE job_id = ? ORDER BY submit", kJobColumns));
    std::vector<JobRecord> records;
    for (const int64_t id : job_ids) {
      row->BindInteger(1, id);
      while (row->Step()) records.push_back(ReadRecord(*row));
      row->Reset();
    }
    return records;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<History::EndedTasks> History::EndedTasksOf(const std::vector<int64_t>& arrays,
                                                  UnixSeconds since) const {
  try {
    const auto row = database_->Prepare(
        "SELECT count(*), coalesce(sum(CASE WHEN state = 'COMPLETED' THEN 1 ELSE 0 END), 0) "
        "FROM job WHERE array_job_id = ? AND array_job_id <> 0 AND submit >= ? "
        "AND start IS NOT NULL AND state <> ''");
    EndedTasks ended;
    for (const int64_t array : arrays) {
      row->BindInteger(1, array);
      row->BindInteger(2, since);
      if (row->Step()) {
        ended.completed += row->Integer(1);
        ended.failed += row->Integer(0) - row->Integer(1);
      }
      row->Reset();
    }
    return ended;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<void> History::EachRun(UnixSeconds since, const std::string& user,
                              const std::function<bool(const Run&)>& take) const {
  try {
    const auto row = database_->Prepare(
        fmt::format("SELECT \"user\", account, gpu, gpus, eligible, start, \"end\" FROM job WHERE "
                    "submit >= ? AND start IS NOT NULL AND \"end\" > ? AND gpus > 0{}",
                    user.empty() ? "" : " AND \"user\" = ?"),
        Rows::kMany);
    row->BindInteger(1, since - kLongestQueueAndRun);
    row->BindInteger(2, since);
    if (!user.empty()) row->BindText(3, user);
    while (row->Step()) {
      const Run run{row->Text(0),    row->Text(1),    row->Text(2),   row->Integer(3),
                    row->Integer(4), row->Integer(5), row->Integer(6)};
      if (!take(run)) break;
    }
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

}  // namespace gpuadvise::daemon
