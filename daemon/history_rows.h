// The rows of the history: its tables, and a job in and out of one.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "common/error.h"
#include "common/past.h"

namespace gpuadvise {

/// The tables of version 1, and what later ones added.
extern const char* const kHistorySchema;
extern const char* const kExperimentSchema;  // since version 2
extern const char* const kDecilesSchema;     // since version 3

/// The columns of `job`, in the order in which rows are bound and read; those of a
/// JobRecord come first.
extern const char* const kJobColumns;

/// Binds the columns of a JobRecord, or all of them.
void BindRecord(SQLite::Statement& row, const JobRecord& job);
void BindJob(SQLite::Statement& row, const PastJob& job);

/// Reads the columns of a JobRecord.
JobRecord ReadRecord(SQLite::Statement& row);

/// Reads all columns. False when what is there cannot be.
bool ReadJob(SQLite::Statement& row, PastJob& job);

/// What SQLite says of `file`, with the remedy: kUnavailable.
tl::unexpected<Error> HistoryUnavailable(const std::string& file, const SQLite::Exception& error);

}  // namespace gpuadvise
