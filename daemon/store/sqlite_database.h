// The history's rows in its file (history_file.h).
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/history_database.h"
#include "daemon/store/history_file.h"

namespace gpuadvise::daemon {

class SqliteStatement final : public HistoryStatement {
 public:
  // REQUIRES: `database` outlives it. `file`: for what fails.
  SqliteStatement(const SQLite::Database& database, std::string file, const std::string& sql);

  void BindInteger(int at, int64_t value) override;
  void BindReal(int at, double value) override;
  void BindText(int at, const std::string& value) override;
  void BindBytes(int at, std::span<const uint8_t> value) override;
  void BindNull(int at) override;
  bool Step() override;
  int64_t Run() override;
  void Reset() override;
  bool IsNull(int column) const override;
  int64_t Integer(int column) const override;
  double Real(int column) const override;
  std::string Text(int column) const override;
  std::vector<uint8_t> Bytes(int column) const override;

 private:
  const std::string file_;
  mutable std::optional<SQLite::Statement> statement_;  // getColumn() is not const
};

class SqliteDatabase final : public HistoryDatabase {
 public:
  explicit SqliteDatabase(HistoryFile file);
  ~SqliteDatabase() override;  // the database is closed before the lock

  std::unique_ptr<HistoryStatement> Prepare(const std::string& sql, Rows rows) override;
  void Begin() override;
  void Commit() override;
  void Rollback() noexcept override;
  int64_t BytesInUse() override;
  int64_t BytesOnDisk() override;
  void GiveSpaceBack() override;
  const std::string& place() const override { return file_.path; }

 private:
  HistoryFile file_;
  std::optional<SQLite::Transaction> transaction_;
};

}  // namespace gpuadvise::daemon
