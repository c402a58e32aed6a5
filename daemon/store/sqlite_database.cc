#include "daemon/store/sqlite_database.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace gpuadvise::daemon {
namespace {

// What `use` returns; what SQLite throws becomes a sentence.
template <typename Use>
auto WithSentences(const std::string& file, const Use& use) {
  try {
    return use();
  } catch (const SQLite::Exception& error) {
    throw DatabaseFailure(HistoryUnavailable(file, error).value().message);
  }
}

}  // namespace

SqliteStatement::SqliteStatement(const SQLite::Database& database, std::string file,
                                 const std::string& sql)
    : file_(std::move(file)) {
  WithSentences(file_, [&] { statement_.emplace(database, sql); });
}

void SqliteStatement::BindInteger(int at, int64_t value) {
  WithSentences(file_, [&] { statement_->bind(at, value); });
}

void SqliteStatement::BindReal(int at, double value) {
  WithSentences(file_, [&] { statement_->bind(at, value); });
}

void SqliteStatement::BindText(int at, const std::string& value) {
  WithSentences(file_, [&] { statement_->bind(at, value); });
}

void SqliteStatement::BindBytes(int at, std::span<const uint8_t> value) {
  WithSentences(file_, [&] { statement_->bind(at, value.data(), static_cast<int>(value.size())); });
}

void SqliteStatement::BindNull(int at) {
  WithSentences(file_, [&] { statement_->bind(at); });
}

bool SqliteStatement::Step() {
  return WithSentences(file_, [&] { return statement_->executeStep(); });
}

int64_t SqliteStatement::Run() {
  return WithSentences(file_, [&] {
    const int changed = statement_->exec();
    statement_->reset();
    return int64_t{changed};
  });
}

void SqliteStatement::Reset() {
  WithSentences(file_, [&] { statement_->reset(); });
}

bool SqliteStatement::IsNull(int column) const {
  return WithSentences(file_, [&] { return statement_->getColumn(column).isNull(); });
}

int64_t SqliteStatement::Integer(int column) const {
  return WithSentences(file_, [&] { return statement_->getColumn(column).getInt64(); });
}

double SqliteStatement::Real(int column) const {
  return WithSentences(file_, [&] { return statement_->getColumn(column).getDouble(); });
}

std::string SqliteStatement::Text(int column) const {
  return WithSentences(file_, [&] { return statement_->getColumn(column).getString(); });
}

std::vector<uint8_t> SqliteStatement::Bytes(int column) const {
  return WithSentences(file_, [&] {
    const SQLite::Column cell = statement_->getColumn(column);
    const auto* bytes = static_cast<const uint8_t*>(cell.getBlob());
    return std::vector<uint8_t>(bytes, bytes + cell.getBytes());
  });
}

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

void SqliteDatabase::GiveSpaceBack() {
  WithSentences(file_.path, [&] { file_.database->exec("PRAGMA incremental_vacuum"); });
}

}  // namespace gpuadvise::daemon
