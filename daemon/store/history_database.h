// The database operations that the history needs: statements with parameters, transactions, size.
// Implemented for a SQLite file (sqlite_database.h) and a PostgreSQL server (postgres_database.h).
//
// SQL is written once, for both: parameters are ?1, ?2 ..., the columns "user" and "end" stand in
// quotes (PostgreSQL has words of its own with these names), and rows are put with ON CONFLICT.
// Blocking. Not thread-safe. What fails throws DatabaseFailure, in and out of History only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::daemon {

// A sentence with the database and the remedy.
class DatabaseFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// kUnavailable.
inline tl::unexpected<Error> HistoryUnavailable(const DatabaseFailure& failure) {
  return Fail(ErrorCode::kUnavailable, failure.what());
}

// One statement. Parameters count from 1, columns from 0, as in SQLite's own interface.
class HistoryStatement {
 public:
  HistoryStatement() = default;
  HistoryStatement(const HistoryStatement&) = delete;
  HistoryStatement& operator=(const HistoryStatement&) = delete;
  virtual ~HistoryStatement() = default;

  virtual void BindInteger(int at, int64_t value) = 0;
  virtual void BindReal(int at, double value) = 0;
  virtual void BindText(int at, const std::string& value) = 0;
  virtual void BindBytes(int at, std::span<const uint8_t> value) = 0;
  virtual void BindNull(int at) = 0;

  // To the next row of a query; false behind the last.
  virtual bool Step() = 0;
  // Executes what returns no rows: how many it changed. It can be bound and run again.
  virtual int64_t Run() = 0;
  // Back to before the first row; what is bound stays.
  virtual void Reset() = 0;

  virtual bool IsNull(int column) const = 0;
  virtual int64_t Integer(int column) const = 0;
  virtual double Real(int column) const = 0;
  virtual std::string Text(int column) const = 0;
  virtual std::vector<uint8_t> Bytes(int column) const = 0;

  std::optional<int64_t> OptionalInteger(int column) const {
    return IsNull(column) ? std::nullopt : std::optional(Integer(column));
  }
};

// A daemon with standbys contacts the database at this interval; without contact for kHungAfter it
// counts as hung.
inline constexpr std::chrono::seconds kHeartbeat{2};
inline constexpr std::chrono::seconds kHungAfter{10};

// Rows per fetch: large results are not read at once.
enum class Rows : uint8_t { kFew, kMany };

class HistoryDatabase {
 public:
  HistoryDatabase() = default;
  HistoryDatabase(const HistoryDatabase&) = delete;
  HistoryDatabase& operator=(const HistoryDatabase&) = delete;
  virtual ~HistoryDatabase() = default;

  // The statement must not outlive the database.
  virtual std::unique_ptr<HistoryStatement> Prepare(const std::string& sql,
                                                    Rows rows = Rows::kFew) = 0;

  virtual void Begin() = 0;
  virtual void Commit() = 0;
  virtual void Rollback() noexcept = 0;

  // Of rows that are there: what HistoryBounds::bytes bounds.
  virtual int64_t BytesInUse() = 0;
  // On disk, with indexes and what is free in between.
  virtual int64_t BytesOnDisk() = 0;
  // Gives what was freed back to the disk, as far as that costs little.
  virtual void Vacuum() = 0;

  // Somebody waits for an answer from now on, or nobody does: then what would take long fails.
  virtual void SetUrgent(bool) {}

  // Else BytesInUse() reads every row.
  virtual bool CountsBytesCheaply() const { return true; }

  // Other daemons wait for it: they take over from one that does not use it for kHungAfter.
  virtual bool IsShared() const { return false; }
  // One of them has: this one must never write again. Stays so.
  virtual bool IsTaken() const { return false; }

  // For people: a file's path, or a URL without its password.
  virtual const std::string& place() const = 0;

  // The only cell of `sql`; NULL, or no row, is 0.
  int64_t IntegerOf(const std::string& sql) {
    const auto row = Prepare(sql);
    return row->Step() && !row->IsNull(0) ? row->Integer(0) : 0;
  }
};

// A transaction: commits everything or nothing.
class HistoryTransaction {
 public:
  explicit HistoryTransaction(HistoryDatabase& database) : database_(database) { database.Begin(); }
  HistoryTransaction(const HistoryTransaction&) = delete;
  HistoryTransaction& operator=(const HistoryTransaction&) = delete;
  ~HistoryTransaction() {
    if (!committed_) database_.Rollback();
  }

  void Commit() {
    database_.Commit();
    committed_ = true;
  }

 private:
  HistoryDatabase& database_;
  bool committed_ = false;
};

}  // namespace gpuadvise::daemon
