// What the history knows of the use of GPUs, row by row: the columns that a UsageHistory counts.
#include <SQLiteCpp/SQLiteCpp.h>

#include "daemon/history.h"
#include "daemon/history_rows.h"

namespace gpuadvise {
namespace {

std::optional<UnixSeconds> TimeOf(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional<UnixSeconds>(column.getInt64());
}

}  // namespace

Result<void> History::EachUsage(const std::function<void(const PastJob&)>& take) const {
  try {
    SQLite::Statement row(*database_,
                          "SELECT job_id, submit, gpu, gpus, eligible, start, end, lost FROM job "
                          "WHERE gpus > 0");
    PastJob job;
    JobRecord& record = job.record;
    while (row.executeStep()) {
      record.id = row.getColumn(0).getInt64();
      record.submit = row.getColumn(1).getInt64();
      record.gpu = row.getColumn(2).getString();
      record.gpus = row.getColumn(3).getInt64();
      record.eligible = row.getColumn(4).getInt64();
      record.start = TimeOf(row.getColumn(5));
      record.end = TimeOf(row.getColumn(6));
      job.lost = row.getColumn(7).getInt() != 0;
      take(job);
    }
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_, error);
  }
}

}  // namespace gpuadvise
