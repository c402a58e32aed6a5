// A history as an earlier gpuadvised left it, for tests.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>

namespace gpuadvise::daemon {

// Makes the history in `file` one of an earlier `version`: without what later ones added, and with
// an empty experiment log.
inline void MakeVersion(const std::string& file, int version) {
  SQLite::Database database(file, SQLite::OPEN_READWRITE);
  database.exec("DROP TABLE experiment");
  if (version >= 2) {
    database.exec(
        "CREATE TABLE experiment (job_id INTEGER NOT NULL, uid INTEGER NOT NULL, "
        "submitted_at INTEGER NOT NULL, text TEXT NOT NULL, "
        "PRIMARY KEY (job_id, uid, submitted_at)) WITHOUT ROWID; "
        "CREATE INDEX experiment_submitted ON experiment(submitted_at)");
  }
  if (version < 3) database.exec("ALTER TABLE job DROP COLUMN said_deciles");
  if (version < 2) database.exec("ALTER TABLE job DROP COLUMN state");
  database.exec("PRAGMA user_version = " + std::to_string(version));
}

// Adds a row to the experiment log of version 2 or 3.
class OldExperiments {
 public:
  explicit OldExperiments(const std::string& file)
      : database_(file, SQLite::OPEN_READWRITE),
        row_(database_, "INSERT INTO experiment VALUES (?, ?, ?, ?)"),
        all_(database_) {}
  ~OldExperiments() { all_.commit(); }

  void Add(int64_t job_id, int64_t uid, int64_t submitted_at, const std::string& text) {
    row_.bind(1, job_id);
    row_.bind(2, uid);
    row_.bind(3, submitted_at);
    row_.bind(4, text);
    row_.exec();
    row_.reset();
  }

  void Execute(const std::string& sql) { database_.exec(sql); }

 private:
  SQLite::Database database_;
  SQLite::Statement row_;
  SQLite::Transaction all_;
};

}  // namespace gpuadvise::daemon
