// Dates and times as written by users and in sbatch's --begin.
//
// "now+2hours", "+2d", "18:00", "6:30PM", "noon", "tomorrow", "tomorrow 18:00", "fri", "friday
// 18:00", "2026-11-27", "2026-11-27T18:00[:30]", "2026-11-27 18:00", unix seconds. In the process's
// time zone; the clock is an argument. A time of day that has passed means tomorrow's, as in Slurm;
// a weekday is the next one that is not today; a day without a time is its start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

// What a day without a time of day means.
enum class DayMeans { kItsStart, kItsEnd };

// Unix seconds. Errors: kBadInput naming the text and the forms.
Result<int64_t> ParseDateTime(std::string_view text, int64_t now,
                              DayMeans day = DayMeans::kItsStart);

// The most recent time matching what ParseDateTime accepts: "fri" is last Friday, "18:00" the last
// 18:00. Also "yesterday", and an age: "7d", "12h", "2 weeks". Unix seconds, at most `now`. Errors:
// kBadInput with the text and the accepted forms.
Result<int64_t> ParsePastDateTime(std::string_view text, int64_t now);

}  // namespace gpuadvise
