#include "daemon/store/sqlite_statement.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/statvfs.h>

#include <cstdint>
#include <filesystem>
#include <utility>

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

// Whether writing a small file next to `file` fails.
bool DiskIsFull(const std::string& file) {
  constexpr uint64_t kLeastBytes = 1u << 20;
  struct statvfs about {};
  if (statvfs(fs::path(file).parent_path().c_str(), &about) != 0) return false;
  return static_cast<uint64_t>(about.f_bavail) * about.f_frsize < kLeastBytes ||
         about.f_favail == 0;
}

}  // namespace

tl::unexpected<Error> HistoryUnavailable(const std::string& file, const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  std::string remedy;
  if (code == SQLITE_FULL || DiskIsFull(file)) {
    remedy = "; make room on its disk";
  } else if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) {
    remedy = "; the daemon's user must be able to write it and its folder";
  } else if (code == SQLITE_IOERR) {
    remedy =
        "; look at its disk: room, the user's quota, a limit on the size of files (ulimit -f), and "
        "what the kernel's log says of it";
  }
  return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}{}", file, error.what(), remedy));
}

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

}  // namespace gpuadvise::daemon
