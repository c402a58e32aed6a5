#include "daemon/store/postgres_database.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "daemon/store/history_rows.h"

namespace gpuadvise::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kRowsAtOnce = 1'000;
constexpr seconds kReconnectAtMost{8};
constexpr int64_t kLockClass = 0x67707561;  // "gpua"; the other half is the schema's number
constexpr int64_t kBytesOfJob = 400;        // without its detail, with its part of two indexes
constexpr milliseconds kEndOfOther{200};    // interval of checks whether a session has ended
constexpr int kLooksForEnd = 15;
constexpr const char* kVersionNote = "schema_version";

PostgresValue ValueOf(int64_t value) { return {fmt::format("{}", value)}; }

// The single cell returned by `sql`; 0 without a row.
int64_t IntegerIn(PostgresSession& session, const std::string& sql) {
  const PostgresRows rows = session.Execute(sql);
  return rows.size() == 0 ? 0 : rows.Integer(0, 0);
}

}  // namespace

// ---- statements ----------------------------------------------------------------------------

// Large results are fetched by cursor, kRowsAtOnce at a time.
class PostgresStatement final : public HistoryStatement {
 public:
  PostgresStatement(PostgresDatabase& database, std::string sql, Rows rows)
      : database_(database), sql_(std::move(sql)), many_(rows == Rows::kMany) {}
  ~PostgresStatement() override { Close(); }

  void BindInteger(int at, int64_t value) override { Bind(at, ValueOf(value)); }
  void BindReal(int at, double value) override { Bind(at, {fmt::format("{}", value)}); }
  void BindText(int at, const std::string& value) override { Bind(at, {value}); }
  void BindBytes(int at, std::span<const uint8_t> value) override {
    Bind(at, {std::string(value.begin(), value.end()), true});
  }
  void BindNull(int at) override { Bind(at, {}); }

  bool Step() override;
  int64_t Run() override;
  void Reset() override { Close(); }

  bool IsNull(int column) const override { return rows_.IsNull(row_, column); }
  int64_t Integer(int column) const override { return rows_.Integer(row_, column); }
  double Real(int column) const override { return rows_.Real(row_, column); }
  std::string Text(int column) const override { return rows_.Text(row_, column); }
  std::vector<uint8_t> Bytes(int column) const override { return rows_.Bytes(row_, column); }

 private:
  void Bind(int at, PostgresValue value) {
    const auto index = static_cast<size_t>(at) - 1;
    if (values_.size() <= index) values_.resize(index + 1);
    values_[index] = std::move(value);
  }
  void Open();
  void Fetch();
  void Close() noexcept;

  PostgresDatabase& database_;
  const std::string sql_;
  const bool many_;
  std::vector<PostgresValue> values_;
  PostgresRows rows_;
  int64_t row_ = 0;
  std::string cursor_;  // "": none
  bool open_ = false;
};

// Returns the result of `use`. Drops a session that fails permanently.
template <typename Use>
auto PostgresDatabase::Using(const Use& use) {
  PostgresSession& session = Session();
  try {
    session.SetPatience(urgent_ ? kUrgentPatience : PostgresSession::kPatience);
    return use(session);
  } catch (const DatabaseFailure& failure) {
    if (session.IsLost()) {
      problem_ = failure.what();
      failures_ = 1;
      again_at_ = Clock::now() + seconds(1);
      session_.reset();
      cursors_ = 0;
    }
    throw;
  }
}

bool PostgresStatement::Step() {
  if (!open_) {
    Open();
  } else {
    ++row_;
  }
  if (row_ < rows_.size()) return true;
  if (cursor_.empty() || rows_.size() < kRowsAtOnce) return false;
  Fetch();
  return rows_.size() > 0;
}

int64_t PostgresStatement::Run() {
  return database_.Using(
      [&](PostgresSession& session) { return session.Execute(sql_, values_).changed(); });
}

void PostgresStatement::Open() {
  row_ = 0;
  if (many_) {
    database_.OpenCursor();
    cursor_ = fmt::format("c{}", static_cast<const void*>(this));
    database_.Using([&](PostgresSession& session) {
      session.ExecuteOnce(fmt::format("DECLARE \"{}\" NO SCROLL CURSOR FOR {}", cursor_, sql_),
                          values_);
    });
    open_ = true;
    Fetch();
    return;
  }
  rows_ = database_.Using([&](PostgresSession& session) { return session.Execute(sql_, values_); });
  open_ = true;
}

void PostgresStatement::Fetch() {
  rows_ = database_.Using([&](PostgresSession& session) {
    return session.ExecuteOnce(fmt::format("FETCH {} FROM \"{}\"", kRowsAtOnce, cursor_));
  });
  row_ = 0;
}

void PostgresStatement::Close() noexcept {
  if (!cursor_.empty()) {
    cursor_.clear();
    database_.CloseCursor();
  }
  open_ = false;
}

// ---- the database --------------------------------------------------------------------------

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::Open(const PostgresPlace& place) {
  std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(place));
  try {
    return database->Connect() ? std::move(database) : nullptr;
  } catch (const DatabaseFailure& failure) {
    return HistoryUnavailable(failure);
  }
}

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::OpenToRead(const PostgresPlace& place) {
  std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(place));
  database->reads_only_ = true;
  try {
    database->Connect();
    return database->HasTables() ? std::move(database) : nullptr;
  } catch (const DatabaseFailure& failure) {
    return HistoryUnavailable(failure);
  }
}

PostgresSession& PostgresDatabase::Session() {
  if (session_) return *session_;
  // What began in a session that is lost must not go on in another one.
  if (taken_ || urgent_ || in_transaction_ || Clock::now() < again_at_) {
    throw DatabaseFailure(problem_);
  }
  try {
    if (!Connect()) {
      taken_ = true;
      throw DatabaseFailure(
          fmt::format("another gpuadvised has taken over the history at {}", place_.shown));
    }
  } catch (const DatabaseFailure& failure) {
    problem_ = failure.what();
    again_at_ = Clock::now() + std::min(kReconnectAtMost, seconds(1 << std::min(failures_, 3)));
    ++failures_;
    throw;
  }
  spdlog::info("the history at {} is reached again", place_.shown);
  failures_ = 0;
  return *session_;
}

bool PostgresDatabase::Connect() {
  Result<std::unique_ptr<PostgresSession>> session = PostgresSession::Connect(place_);
  if (!session) throw DatabaseFailure(session.error().message);
  session_ = std::move(*session);
  if (reads_only_) return true;
  try {
    if (TakeLock()) {
      if (!HasTables()) MakeTables();
      MakeArrayIndex();
      if (IsSameHolder()) {
        last_backend_ = session_->backend();
        return true;
      }
    }
    session_.reset();
    return false;
  } catch (const DatabaseFailure&) {
    session_.reset();
    throw;
  }
}

// The session that holds the lock is ended where it hangs, and where it is this daemon's own of
// before, which the server has not missed yet.
bool PostgresDatabase::TakeLock() {
  const PostgresRows schema = session_->Execute("SELECT current_schema()::text");
  if (schema.IsNull(0, 0)) {
    throw DatabaseFailure(
        fmt::format("the history at {}: no schema of its search_path is there; CREATE SCHEMA "
                    "gpuadvise AUTHORIZATION the daemon's user",
                    place_.shown));
  }
  const std::string holder_of = fmt::format(
      "SELECT pid, coalesce(state_change < clock_timestamp() - CASE state WHEN 'active' THEN "
      "interval '{} s' ELSE interval '{} s' END, false)::int FROM pg_locks JOIN pg_stat_activity "
      "USING (pid) WHERE locktype = 'advisory' AND granted AND pg_locks.database = (SELECT oid "
      "FROM pg_database WHERE datname = current_database()) AND classid = ?::bigint::oid AND "
      "objid = current_schema()::regnamespace::oid AND objsubid = 2",
      (PostgresSession::kPatience + kHungAfter).count(), kHungAfter.count());
  for (int look = 0; look < kLooksForEnd; ++look) {
    const PostgresRows taken = session_->Execute(
        "SELECT pg_try_advisory_lock(?::int, current_schema()::regnamespace::oid::int)::int",
        {ValueOf(kLockClass)});
    if (taken.Integer(0, 0) == 1) return true;
    const PostgresRows holder = session_->Execute(holder_of, {ValueOf(kLockClass)});
    if (holder.size() > 0) {
      const bool hangs = holder.Integer(0, 1) != 0;
      if (!hangs && holder.Integer(0, 0) != last_backend_) return false;
      if (hangs && look == 0) {
        spdlog::warn("the gpuadvised that holds the history at {} hangs: its session is ended",
                     place_.shown);
      }
      session_->Execute("SELECT pg_terminate_backend(?::int)", {ValueOf(holder.Integer(0, 0))});
    }
    std::this_thread::sleep_for(kEndOfOther);
  }
  throw DatabaseFailure(
      fmt::format("the history at {}: the server does not end the session that holds its lock; "
                  "look at the server's log",
                  place_.shown));
}

// Whether nobody else has held the lock since this daemon did; counts a first-time holder.
bool PostgresDatabase::IsSameHolder() {
  if (holder_ != 0) {
    return IntegerIn(*session_, "SELECT value FROM note WHERE name = 'holder'") == holder_;
  }
  holder_ = IntegerIn(*session_,
                      "INSERT INTO note (name, value) VALUES ('holder', 1) ON CONFLICT (name) DO "
                      "UPDATE SET value = note.value + 1 RETURNING value");
  return true;
}

bool PostgresDatabase::HasTables() {
  const PostgresRows there = session_->Execute(
      "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename IN "
      "('job', 'note', 'experiment')");
  if (there.Integer(0, 0) == 0) return false;
  const std::string not_ours = fmt::format(
      "the history at {}: tables of something else are in its schema; give gpuadvised a schema of "
      "its own (?options=-csearch_path%3DNAME)",
      place_.shown);
  if (there.Integer(0, 0) != 3) throw DatabaseFailure(not_ours);
  const PostgresRows columns = session_->Execute(
      "SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema() AND "
      "table_name = 'note' AND column_name IN ('name', 'value')");
  if (columns.Integer(0, 0) != 2) throw DatabaseFailure(not_ours);
  const PostgresRows version =
      session_->Execute("SELECT value FROM note WHERE name = ?", {{kVersionNote}});
  if (version.size() == 0) throw DatabaseFailure(not_ours);
  if (version.Integer(0, 0) == 5 && !reads_only_) {
    session_->ExecuteAll(fmt::format("BEGIN;{};UPDATE note SET value = {} WHERE name = '{}';COMMIT",
                                     kSixthVersion, kHistoryVersion, kVersionNote));
  } else if (version.Integer(0, 0) != kHistoryVersion) {
    throw DatabaseFailure(
        fmt::format("the history at {} is of version {}, this gpuadvised knows version {}; run the "
                    "gpuadvised that wrote it, or give this one a schema of its own",
                    place_.shown, version.Integer(0, 0), kHistoryVersion));
  }
  return true;
}

void PostgresDatabase::MakeArrayIndex() {
  const PostgresRows there = session_->Execute(
      "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexname = "
      "'job_array'");
  if (there.Integer(0, 0) == 0) session_->ExecuteAll(kArrayIndex);
}

void PostgresDatabase::MakeTables() {
  // Of one user's jobs: an answer waits for them.
  constexpr const char* kMoreIndexes = "CREATE INDEX job_user ON job(\"user\", submit);";
  session_->ExecuteAll(
      fmt::format("BEGIN;{}{}INSERT INTO note (name, value) VALUES ('{}', {});COMMIT",
                  HistorySchema(kPostgresTypes), kMoreIndexes, kVersionNote, kHistoryVersion));
}

std::unique_ptr<HistoryStatement> PostgresDatabase::Prepare(const std::string& sql, Rows rows) {
  return std::make_unique<PostgresStatement>(*this, sql, rows);
}

void PostgresDatabase::Begin() {
  Using([](PostgresSession& session) { session.ExecuteAll("BEGIN"); });
  in_transaction_ = true;
}

void PostgresDatabase::Commit() {
  Using([](PostgresSession& session) { session.ExecuteAll("COMMIT"); });
  in_transaction_ = false;
}

void PostgresDatabase::Rollback() noexcept {
  in_transaction_ = false;
  if (!session_) return;
  try {
    Using([](PostgresSession& session) { session.ExecuteAll("ROLLBACK"); });
  } catch (const DatabaseFailure&) {  // whoever asks next is told
  }
}

// A cursor lives in a transaction: the one of all that is done, or one for as long as any is open.
void PostgresDatabase::OpenCursor() {
  if (!in_transaction_ && cursors_ == 0) {
    Using([](PostgresSession& session) { session.ExecuteAll("BEGIN READ ONLY"); });
  }
  ++cursors_;
}

void PostgresDatabase::CloseCursor() noexcept {
  if (cursors_ == 0 || --cursors_ > 0 || in_transaction_) return;
  Rollback();
}

int64_t PostgresDatabase::BytesInUse() {
  return IntegerOf(
      fmt::format("SELECT (SELECT count(*) * {} + coalesce(sum(octet_length(detail)), "
                  "0) FROM job) + (SELECT coalesce(sum(bytes), 0) FROM experiment)",
                  kBytesOfJob));
}

int64_t PostgresDatabase::BytesOnDisk() {
  return IntegerOf(
      "SELECT sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)) FROM "
      "pg_tables WHERE schemaname = current_schema() AND tablename IN ('job', 'note', "
      "'experiment')");
}

}  // namespace gpuadvise::daemon
