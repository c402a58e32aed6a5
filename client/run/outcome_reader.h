// Reads `gpuadvise-outcome.json` back: the inverse of client/run/outcome.h, for files that anyone
// may have written.
//
// Nothing is believed: a file must be regular, small and the caller's own, its numbers within what
// a training can have. Members that are not known are left alone, so that a file of a later release
// is still read. No call here waits for a FIFO or follows a symbolic link.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/run/outcome.h"
#include "common/error.h"

namespace gpuadvise {

inline constexpr size_t kMaxOutcomeBytes = 256 << 10;

struct FoundOutcome {
  Outcome outcome;
  bool running = false;     // written while the command still ran
  nlohmann::json document;  // as it stands in the file, for POST /v1/outcomes
};

/// What the bytes of such a file say. Errors: kBadInput with what is wrong and where.
Result<FoundOutcome> ParseOutcome(std::string_view text);

/// The file at `path`, which must belong to `owner`. Errors: kNotFound where there is none,
/// kUnavailable where it cannot be read, else kBadInput; none of them names the file.
Result<FoundOutcome> ReadOutcomeFile(const std::string& path, uid_t owner);

}  // namespace gpuadvise
