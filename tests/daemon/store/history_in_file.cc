#include <SQLiteCpp/SQLiteCpp.h>

#include <stdexcept>
#include <utility>

#include "tests/daemon/store/history_place.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {

struct HistoryPlace::Home {
  std::string state() const { return folder.Path("state"); }

  TempFolder folder;
};

HistoryPlace::HistoryPlace() : home_(std::make_unique<Home>()) {}

HistoryPlace::~HistoryPlace() = default;

std::unique_ptr<History> HistoryPlace::Open(const HistoryBounds& bounds) const {
  auto history = History::Open(home_->state(), kSnapshotTime, bounds);
  if (!history) throw std::runtime_error(history.error().message);
  return std::move(*history);
}

Result<std::optional<HistoryInfo>> HistoryPlace::Info() const {
  return History::InfoOf(home_->state());
}

void HistoryPlace::Execute(const std::string& sql) const {
  SQLite::Database(HistoryPath(home_->state()), SQLite::OPEN_READWRITE).exec(sql);
}

std::string HistoryPlace::Cell(const std::string& sql) const {
  SQLite::Database database(HistoryPath(home_->state()), SQLite::OPEN_READONLY, 5'000);
  return database.execAndGet(sql).getString();
}

}  // namespace gpuadvise::daemon
