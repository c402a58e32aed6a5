// Slurm's times as text: limits ("1-12:00:00", "90", "UNLIMITED") and moments
// ("2026-11-20T10:00:00").
//
// Limits and durations are seconds; moments unix seconds. Slurm prints moments in its local time
// without a zone, so the caller gives the offset. Pure functions, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/base/slurm_number.h"
#include "common/base/unix_time.h"

namespace gpuadvise {

// Minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS, in seconds. UNLIMITED and INFINITE are
// infinite; NOT_SET, INVALID, Partition_Limit, N/A, NONE and "" are absent.
// Errors: kBadInput for anything else, with the forms that exist.
Result<SlurmNumber> ParseSlurmDuration(std::string_view text);

// For time limits, where Slurm's zero means unlimited: "0" is infinite.
Result<SlurmNumber> ParseTimeLimit(std::string_view text);

// "12:00:00", "1-12:00:00", as Slurm prints and sbatch takes it. REQUIRES: seconds >= 0.
std::string FormatDuration(int64_t seconds);

// "2026-11-20T10:00:00" in UTC, or unix seconds as printed with SLURM_TIME_FORMAT=%s. "Unknown",
// "N/A", "None", "(null)" and "" are nullopt.
Result<std::optional<UnixSeconds>> ParseTimestamp(std::string_view text);

// "2026-11-20T10:00:00", in UTC.
std::string FormatTimestamp(UnixSeconds time);

}  // namespace gpuadvise
