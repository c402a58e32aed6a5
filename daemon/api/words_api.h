// Sentences of answers in the reader's language, for the dashboard (docs/api.md, "POST /v1/words").
#pragma once

#include <cstddef>

#include "daemon/api/request_context.h"

namespace gpuadvise::daemon {

// Of one request.
inline constexpr size_t kMostTexts = 500;
inline constexpr size_t kMostTextBytes = 1'000;

ApiResponse PostWords(RequestContext& call);

}  // namespace gpuadvise::daemon
