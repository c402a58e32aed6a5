// The tables of the history, and jobs as rows. No state; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/history/forecast_history.h"
#include "daemon/store/history_database.h"

namespace gpuadvise::daemon {

// One row of the experiment log as text (common/runs/experiment.h).
struct KeptExperiment {
  int64_t job_id = 0;
  int64_t uid = -1;  // whose
  UnixSeconds submitted_at = 0;
  std::string text;   // "": the row is to be forgotten
  bool seen = false;  // Slurm has shown the job; else it is its user's claim
};

// Table version written by this program.
inline constexpr int kHistoryVersion = 6;

// Type names of a database.
struct ColumnTypes {
  const char* integer;  // of 64 bits
  const char* real;     // of 64 bits
  const char* bytes;
  const char* behind_table;  // of a table with a short key
};
inline constexpr ColumnTypes kSqliteTypes = {"INTEGER", "REAL", "BLOB", " WITHOUT ROWID"};
inline constexpr ColumnTypes kPostgresTypes = {"BIGINT", "DOUBLE PRECISION", "BYTEA", ""};

// All tables.
std::string HistorySchema(const ColumnTypes& types);

// What the second and third version of SQLite's file added to the first. The fifth had a table and
// columns more than this one: columns stay where they are, and are their defaults in new rows.
extern const char* const kSecondVersion;
extern const char* const kThirdVersion;
extern const char* const kSixthVersion;

// An index that later versions added to the tables; older programs do not mind it.
extern const char* const kArrayIndex;

// Inserts a row of the experiment log. REQUIRES for binding: it has a text.
extern const char* const kPutExperiment;
void BindExperiment(HistoryStatement& row, const KeptExperiment& experiment);

// Its size towards the bounds (history_file.h).
int64_t BytesOf(const KeptExperiment& experiment);

// The columns of `job` in binding and reading order; those of a JobRecord come first.
extern const char* const kJobColumns;
inline constexpr int kJobColumnCount = 26;

// Inserts or replaces a job.
std::string PutJob();

// Binds the columns of a JobRecord, or all of them.
void BindRecord(HistoryStatement& row, const JobRecord& job);
void BindJob(HistoryStatement& row, const PastJob& job);

// Reads the columns of a JobRecord.
JobRecord ReadRecord(const HistoryStatement& row);

// Reads all columns. False for impossible values.
bool ReadJob(const HistoryStatement& row, PastJob& job);

// Learning data of one job in CBOR: the submission and the forecast record. Empty if there is
// neither.
std::vector<uint8_t> EncodeDetail(const PastJob& job);

// Sets `submission` and the forecast record. False, without changes, for unreadable bytes.
bool DecodeDetail(std::span<const uint8_t> bytes, PastJob& job);

}  // namespace gpuadvise::daemon
