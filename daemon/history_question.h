// What GET /v1/history asks, read from the request's target. Pure.
#pragma once

#include <string_view>

#include "common/answer_history.h"

namespace gpuadvise {

/// weeks (1 to kMostWeeks) and gpu. Unknown names are ignored.
/// Errors: kBadInput naming the one that is wrong.
Result<HistoryQuestion> HistoryQuestionFrom(std::string_view target);

}  // namespace gpuadvise
