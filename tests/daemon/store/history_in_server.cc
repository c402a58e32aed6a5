#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "tests/daemon/patience.h"
#include "tests/daemon/store/history_place.h"
#include "tests/daemon/store/postgres_server.h"

namespace gpuadvise::daemon {
namespace {

PostgresPlace PlaceOf(const std::string& schema) {
  auto place = ReadPostgresUrl(PostgresServer::Shared().UrlOf(schema));
  if (!place) throw std::runtime_error(place.error().message);
  return *place;
}

std::unique_ptr<PostgresSession> SessionOf(const PostgresPlace& place) {
  auto session = PostgresSession::Connect(place);
  if (!session) throw std::runtime_error(session.error().message);
  return std::move(*session);
}

std::string NextSchema() {
  static int count = 0;
  return fmt::format("cluster{}", ++count);
}

}  // namespace

struct HistoryPlace::Home {
  std::string schema = NextSchema();
  PostgresPlace place = PlaceOf(schema);
};

HistoryPlace::HistoryPlace() : home_(std::make_unique<Home>()) {
  SessionOf(PlaceOf(""))->ExecuteAll("CREATE SCHEMA " + home_->schema);
}

HistoryPlace::~HistoryPlace() {
  SessionOf(PlaceOf(""))->ExecuteAll("DROP SCHEMA " + home_->schema + " CASCADE");
}

std::unique_ptr<History> HistoryPlace::Open(const HistoryBounds& bounds) const {
  std::unique_ptr<History> opened;
  // The server lets go of a session's lock a moment after it was closed.
  const bool free = BecomesTrue([&] {
    auto history = History::OpenPostgres(home_->place, bounds);
    if (!history) throw std::runtime_error(history.error().message);
    opened = std::move(*history);
    return opened != nullptr;
  });
  if (!free) throw std::runtime_error("another session has the history");
  return opened;
}

Result<std::optional<HistoryInfo>> HistoryPlace::Info() const {
  return History::InfoOf(home_->place);
}

void HistoryPlace::Execute(const std::string& sql) const {
  SessionOf(home_->place)->ExecuteAll(sql);
}

std::string HistoryPlace::Cell(const std::string& sql) const {
  return SessionOf(home_->place)->Execute(sql).Text(0, 0);
}

}  // namespace gpuadvise::daemon
