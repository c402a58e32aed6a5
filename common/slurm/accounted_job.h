// One job in Slurm's accounting: a row of `sacct -X -P`. Pure; safe from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/slurm/job_record.h"

namespace gpuadvise {

// Columns read.
inline constexpr std::string_view kSacctColumns =
    "JobIDRaw,JobID,Submit,Eligible,Start,End,TimelimitRaw,NNodes,ReqCPUS,ReqTRES,User,Account,"
    "Partition,QOS,State,NodeList,JobName";

struct AccountedJob {
  JobRecord record;                // an end without a start: the time it left the queue
  std::vector<std::string> nodes;  // where it ran; empty: nowhere, or unknown
};

// Value of a column by sacct's name; "" if missing.
using SacctColumn = std::function<std::string_view(const char*)>;

// nullopt if job id or submission time is invalid.
std::optional<AccountedJob> ParseAccountedJob(const SacctColumn& column);

// Parses the output of `sacct -n -X --delimiter=MARK -p -o kSacctColumns`. `mark` follows each
// value; values may contain anything, including line breaks. The mark is random for each call, so
// no job can forge a row. Counts invalid rows in `unreadable`.
std::vector<AccountedJob> ParseSacct(std::string_view text, std::string_view mark,
                                     int64_t& unreadable);

// What `error` of sacct means, as a clause: slurmdbd is down, there is no accounting, or the error.
std::string DescribeAccountingError(std::string_view error);

// The same with what is missing meanwhile; "" without an error, or where there is no accounting.
std::string WithoutAccounting(std::string_view error);

}  // namespace gpuadvise
