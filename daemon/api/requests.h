// What callers send, read: bodies as JSON, training files in them, and what stands behind the "?"
// of a target. Pure; errors say what to write instead.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "daemon/answers/account_views.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {

inline constexpr int kMaxJsonDepth = 64;
// Values of one body, keys not counted: some thousand are a training file with its model's
// config.json, and each may take a hundred bytes of memory.
inline constexpr size_t kMaxJsonValues = 20'000;
// Text of a training file; one is a few kilobytes.
inline constexpr size_t kMaxSpecTextBytes = 256 << 10;

// A request's body as JSON: an object of at most kMaxJsonValues, nested at most kMaxJsonDepth deep,
// valid UTF-8. Errors: kBadInput with the byte where the text stops being JSON.
Result<nlohmann::json> ParseRequestJson(std::string_view body);

// Errors about a spec, told with the line of the text they are about.
using Explain = std::function<Error(Error)>;

// A caller may send the text of a training file (`spec_yaml`) instead of the spec that gpuadvise
// makes of it; it is read here by the same rules. Puts `spec` in the place of `spec_yaml` (and
// `section`) of `body`, where that is there; `now` resolves a deadline in words. The result tells
// errors of what is asked with `body` then.
// Errors: kBadInput, "train.yaml:7: sentence"; also where the text names a file, because the
// daemon opens no path of a caller, and over kMaxSpecTextBytes.
Result<Explain> TakeSpecText(nlohmann::json& body, UnixSeconds now);

// Names and values, decoded ("%41" and "+"); of the same name the last. Never fails: what cannot
// be decoded stays as it is.
std::map<std::string, std::string> ParseQuery(std::string_view target);

// Whether the query of `target` has nothing but `allowed` names ("user,limit"), each with at most
// kMaxQueryValueBytes. Errors: kBadInput naming the one that is wrong, and those allowed.
inline constexpr size_t kMaxQueryValueBytes = 256;
Result<void> CheckQuery(std::string_view target, std::string_view allowed);

// One text for all targets that ask the same, and for no others: names in order, each value behind
// its length, none that is empty. REQUIRES: the query passes CheckQuery().
std::string CanonicalTarget(std::string_view target);

// user, account, qos, partition, gpu, search, sort, state (pending, running), format (json, csv),
// offset and limit; "" is as if it were not there. Errors: kBadInput naming the one that is wrong.
Result<QueueFilter> ParseQueueFilter(std::string_view target);

// partition, gpu, node, search, condition, offset and limit. Errors: as above.
Result<NodesFilter> ParseNodesFilter(std::string_view target);

// The same and hours (1 to kMostTimelineHours). Errors: as above.
Result<TimelineFilter> ParseTimelineFilter(std::string_view target);

// What GET /v1/history asks: weeks (1 to kMostWeeks) and gpu. Errors: kBadInput
// naming the one that is wrong.
Result<HistoryQuestion> ParseHistoryQuestion(std::string_view target);

// What GET /v1/free asks: hours (1 to kMostFreeHours). Errors: as above.
Result<int64_t> ParseFreeHours(std::string_view target);

// What GET /v1/users asks: weeks (as below) and account. Errors: as above.
Result<UsersQuestion> ParseUsersQuestion(std::string_view target);

// What GET /v1/usage asks: weeks (1 to kMostUsageWeeks). Errors: as above.
Result<UsageQuestion> ParseUsageQuestion(std::string_view target);

}  // namespace gpuadvise::daemon
