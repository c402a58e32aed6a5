// The rows of the experiment log in the history.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "daemon/history.h"
#include "daemon/history_rows.h"

namespace gpuadvise {

Result<void> History::Save(const std::vector<KeptExperiment>& experiments) {
  try {
    SQLite::Transaction all(*database_);
    SQLite::Statement row(
        *database_,
        "INSERT OR REPLACE INTO experiment (job_id, uid, submitted_at, text) VALUES (?,?,?,?)");
    for (const KeptExperiment& experiment : experiments) {
      row.bind(1, experiment.job_id);
      row.bind(2, experiment.uid);
      row.bind(3, experiment.submitted_at);
      row.bind(4, experiment.text);
      row.exec();
      row.reset();
    }
    all.commit();
    return {};
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_, error);
  }
}

Result<std::vector<std::string>> History::LoadExperiments(size_t limit) const {
  try {
    SQLite::Statement row(*database_,
                          "SELECT text FROM (SELECT * FROM experiment ORDER BY submitted_at DESC "
                          "LIMIT ?) ORDER BY submitted_at, job_id");
    row.bind(1, static_cast<int64_t>(limit));
    std::vector<std::string> texts;
    while (row.executeStep()) texts.push_back(row.getColumn(0).getString());
    return texts;
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_, error);
  }
}

Result<std::vector<JobRecord>> History::RecordsOf(const std::vector<int64_t>& job_ids) const {
  try {
    SQLite::Statement row(
        *database_,
        fmt::format("SELECT {} FROM job WHERE job_id = ? ORDER BY submit", kJobColumns));
    std::vector<JobRecord> records;
    for (const int64_t id : job_ids) {
      row.bind(1, id);
      while (row.executeStep()) records.push_back(ReadRecord(row));
      row.reset();
    }
    return records;
  } catch (const SQLite::Exception& error) {
    return HistoryUnavailable(file_, error);
  }
}

}  // namespace gpuadvise
