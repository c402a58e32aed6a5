// What stands behind the "?" of a request's target. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/answer_nodes.h"
#include "common/answer_queue.h"
#include "common/error.h"

namespace gpuadvise {

/// Names and values, decoded ("%41" and "+"); of the same name the last. Never fails: what cannot
/// be decoded stays as it is.
std::map<std::string, std::string> QueryOf(std::string_view target);

/// user, partition, gpu, search, state (pending, running), offset and limit. Unknown names are
/// ignored. Errors: kBadInput naming the one that is wrong.
Result<QueueFilter> FilterFrom(std::string_view target);

/// partition, gpu, search, condition, offset and limit. Errors: as above.
Result<NodesFilter> NodesFilterFrom(std::string_view target);

}  // namespace gpuadvise
