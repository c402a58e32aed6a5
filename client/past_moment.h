// A moment in the past, as a person says since when.
//
// Everything that client/moment.h reads, taken as the last time that it was: "fri" is last Friday,
// "18:00" the last time it was six. Also "yesterday", and an age: "7d", "12h", "2 weeks". In the
// process's time zone; the clock is an argument.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/error.h"

namespace gpuadvise {

/// Unix seconds, at most `now`. Errors: kBadInput naming the text and the forms.
Result<int64_t> ParsePastMoment(std::string_view text, int64_t now);

}  // namespace gpuadvise
