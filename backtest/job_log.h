// A log of past jobs, independent of the format it was read from.
//
// Unusable rows are left out and counted by reason, with the first line of each reason. A value;
// times are unix seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::backtest {

struct LogJob {
  int64_t id = 0;
  std::string user;
  std::string account;
  std::string qos;
  std::string name;
  std::string partition;
  std::string gpu;  // GRES type; "": none or untyped
  int64_t nodes = 1;
  int64_t cpus_per_node = 1;
  int64_t gpus_per_node = 0;
  SlurmNumber limit_seconds;  // absent: unknown or unlimited
  UnixSeconds submit = 0;
  UnixSeconds eligible = 0;
  std::optional<UnixSeconds> start;  // nullopt: never started; left the queue at `end`, if known
  std::optional<UnixSeconds> end;
  std::vector<std::string> node_list;    // where it ran; empty: unknown
  std::optional<UnixSeconds> test_only;  // start predicted by `sbatch --test-only` at submission
};

// Rows left out or repaired for one reason.
struct LogIssue {
  int64_t rows = 0;
  int64_t first_line = 0;
};

struct JobLog {
  std::vector<LogJob> jobs;  // by eligible time, then id
  std::map<std::string, LogIssue> left_out;
  std::map<std::string, LogIssue> mended;

  void LeaveOut(const std::string& why, int64_t line);
  void Repair(const std::string& what, int64_t line);
};

// Checks a job's times for consistency, repairs what it can, and adds the job or leaves it out.
void AddJob(LogJob job, int64_t line, JobLog& log);

// Sorts the jobs and keeps the first of each id.
void FinishLog(JobLog& log);

// The values of one row by column name; "" if the log has no such column.
class Row {
 public:
  Row(const std::map<std::string, size_t>& columns, const std::vector<std::string>& values,
      int64_t line)
      : columns_(columns), values_(values), line_(line) {}
  int64_t line() const { return line_; }
  std::string_view Text(const std::string& column) const;
  // nullopt if empty or not a number.
  std::optional<int64_t> Number(const std::string& column) const;

 private:
  const std::map<std::string, size_t>& columns_;
  const std::vector<std::string>& values_;
  int64_t line_;
};

// The values of a line, separated by `separator`; quotes as in CSV.
std::vector<std::string> SplitLine(std::string_view line, char separator);

// One format of log.
struct LogForm {
  char separator = ',';
  std::vector<std::string> needed;  // required columns
  std::string remedy;               // advice if one is missing
  std::string unreadable;           // reason given for a row that `job_of` rejects
  std::optional<LogJob> (*job_of)(const Row&) = nullptr;
};

// Reads a log with a header line. Errors: kBadInput if a required column is missing or no row is
// usable.
Result<JobLog> ParseRows(std::string_view text, const std::string& file, const LogForm& form);

// Reads a development log: CSV with the columns job_id, submit, start, end, limit, nodes, user,
// partition and any of eligible, cpus_per_node, gpus_per_node, gpu, account, qos, name, nodelist,
// test_only; times in unix seconds. Error messages start with `file`. Errors: as ParseRows.
Result<JobLog> ParseCsvLog(std::string_view text, const std::string& file);

// Reads the output of kSacctCommand. Errors: as ParseRows.
Result<JobLog> ParseSacctLog(std::string_view text, const std::string& file);

// The text of a file, decompressed if gzip-compressed, as far as it was readable.
struct LogText {
  std::string text;
  std::string cut_off;  // why the end is missing; "": complete
};

// Blocking. A truncated .gz yields the readable part. Errors: kNotFound; kBadInput if nothing can
// be decompressed.
Result<LogText> ReadLogFile(const std::string& path);

// The command whose output `--sacct` reads.
inline constexpr std::string_view kSacctCommand =
    "sacct -a -X -P -S 2026-01-01 -o "
    "JobIDRaw,Submit,Eligible,Start,End,TimelimitRaw,NNodes,ReqCPUS,ReqTRES,User,Account,"
    "Partition,QOS,JobName,State,NodeList";

}  // namespace gpuadvise::backtest
