// The history's rows in its file (history_file.h).
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/history_database.h"
#include "daemon/store/history_file.h"
#include "daemon/store/sqlite_statement.h"

namespace gpuadvise::daemon {

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
  void Vacuum() override;
  const std::string& place() const override { return file_.path; }

 private:
  HistoryFile file_;
  std::optional<SQLite::Transaction> transaction_;
};

}  // namespace gpuadvise::daemon
