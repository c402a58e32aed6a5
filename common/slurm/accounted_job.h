// One job as Slurm's accounting has it: a row of `sacct -X -P`. Pure; safe from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/slurm/job_record.h"

namespace gpuadvise {

// The columns that are read.
inline constexpr std::string_view kSacctColumns =
    "JobIDRaw,Submit,Eligible,Start,End,TimelimitRaw,NNodes,ReqCPUS,ReqTRES,User,Account,"
    "Partition,QOS,State,NodeList,JobName";

struct AccountedJob {
  JobRecord record;                // an end without a start: it left the queue then
  std::vector<std::string> nodes;  // where it ran; empty: nowhere, or not known
};

// The value of a column by sacct's name; "" where there is none.
using SacctColumn = std::function<std::string_view(const char*)>;

// nullopt when job id or submission time cannot be read.
std::optional<AccountedJob> AccountedJobOf(const SacctColumn& column);

// What `sacct -n -X --delimiter=MARK -p -o kSacctColumns` printed: `mark` stands behind each value,
// which may hold anything else, line breaks too. So it is drawn anew for each call, and nobody can
// write what looks like a row. Rows that cannot be read are counted in `unreadable`.
std::vector<AccountedJob> ParseSacct(std::string_view text, std::string_view mark,
                                     int64_t& unreadable);

}  // namespace gpuadvise
