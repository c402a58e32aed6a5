// The rows of the history: its tables, and a job in and out of one. No state; safe from any thread.
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

// One row of the experiment log, as its text (common/training/experiment.h).
struct KeptExperiment {
  int64_t job_id = 0;
  int64_t uid = -1;  // whose
  UnixSeconds submitted_at = 0;
  std::string text;   // "": the row is to be forgotten
  bool seen = false;  // Slurm has shown the job; else it is its user's claim
};

// The version of the tables that this program writes.
inline constexpr int kHistoryVersion = 5;

// How a database calls what the tables are made of.
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

// What the second and third version of SQLite's file added to the first.
extern const char* const kSecondVersion;
extern const char* const kThirdVersion;
extern const char* const kFifthVersion;  // the fourth had all but these

// A row of the experiment log into its table. REQUIRES of binding: it has a text.
extern const char* const kPutExperiment;  // the seventh parameter: saved_by
void BindExperiment(HistoryStatement& row, const KeptExperiment& experiment);

// What it takes of the bounds (history_file.h).
int64_t BytesOf(const KeptExperiment& experiment);

// The columns of `job`, in the order in which rows are bound and read; those of a
// JobRecord come first. Behind them two that are not of a PastJob: the daemon runs that scored the
// row and that saved it last ("": before version 5).
extern const char* const kJobColumns;
inline constexpr int kJobColumnCount = 26;

// "?1, ?2, ... ?count"
std::string Parameters(int count);

// A job into its table, in place of an earlier row of it. The two parameters behind those of
// kJobColumns: scored_by, which stays where the row has one already, and saved_by.
std::string PutJob();

// Binds the columns of a JobRecord, or all of them.
void BindRecord(HistoryStatement& row, const JobRecord& job);
void BindJob(HistoryStatement& row, const PastJob& job);

// Reads the columns of a JobRecord.
JobRecord ReadRecord(const HistoryStatement& row);

// Reads all columns. False when what is there cannot be.
bool ReadJob(const HistoryStatement& row, PastJob& job);

// What a history keeps of one job to learn from, as bytes in CBOR: the job as it was submitted and
// the forecast record of its forecast. Empty where there is neither.
std::vector<uint8_t> EncodeDetail(const PastJob& job);

// Whether `bytes` are CBOR that is nested at most `most_deep`: nlohmann's reader calls itself once
// a level, and another host may have sent them.
bool IsShallowCbor(std::span<const uint8_t> bytes, int most_deep);

// Fills `submission` and `forecast record`. False, and nothing changed, when the bytes cannot be
// read.
bool DecodeDetail(std::span<const uint8_t> bytes, PastJob& job);

}  // namespace gpuadvise::daemon
