// One SQLite statement, and SQLite's errors as sentences.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "daemon/store/history_database.h"

namespace gpuadvise::daemon {

// SQLite's error about `file` with the remedy: kUnavailable.
tl::unexpected<Error> HistoryUnavailable(const std::string& file, const SQLite::Exception& error);

// Returns the result of `use`; converts SQLite's exceptions to sentences.
template <typename Use>
auto WithSentences(const std::string& file, const Use& use) {
  try {
    return use();
  } catch (const SQLite::Exception& error) {
    throw DatabaseFailure(HistoryUnavailable(file, error).value().message);
  }
}

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

}  // namespace gpuadvise::daemon
