// What stands behind the "?" of a request's target. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/answers.h"
#include "common/error.h"

namespace gpuadvise {

/// Names and values, decoded ("%41" and "+"); of the same name the last. Never fails: what cannot
/// be decoded stays as it is.
std::map<std::string, std::string> QueryOf(std::string_view target);

/// user, partition, state (pending, running) and limit. Unknown names are ignored.
/// Errors: kBadInput naming the one that is wrong.
Result<QueueFilter> FilterFrom(std::string_view target);

}  // namespace gpuadvise
