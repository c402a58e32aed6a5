#include "daemon/store/sqlite_database.h"

#include <utility>

namespace gpuadvise::daemon {

SqliteDatabase::SqliteDatabase(HistoryFile file) : file_(std::move(file)) {}

SqliteDatabase::~SqliteDatabase() = default;

std::unique_ptr<HistoryStatement> SqliteDatabase::Prepare(const std::string& sql, Rows) {
  return std::make_unique<SqliteStatement>(*file_.database, file_.path, sql);
}

void SqliteDatabase::Begin() {
  WithSentences(file_.path, [&] { transaction_.emplace(*file_.database); });
}

void SqliteDatabase::Commit() {
  WithSentences(file_.path, [&] { transaction_->commit(); });
  transaction_.reset();
}

void SqliteDatabase::Rollback() noexcept { transaction_.reset(); }

int64_t SqliteDatabase::BytesInUse() {
  return WithSentences(file_.path, [&] {
    SQLite::Database& database = *file_.database;
    const int64_t pages = database.execAndGet("PRAGMA page_count").getInt64();
    const int64_t free_pages = database.execAndGet("PRAGMA freelist_count").getInt64();
    return (pages - free_pages) * database.execAndGet("PRAGMA page_size").getInt64();
  });
}

int64_t SqliteDatabase::BytesOnDisk() { return HistoryBytesOnDisk(file_.path); }

void SqliteDatabase::Vacuum() {
  WithSentences(file_.path, [&] { file_.database->exec("PRAGMA incremental_vacuum"); });
}

}  // namespace gpuadvise::daemon
