// Values of sbatch's options that are counts. Errors name the option. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::client {

// "--ntasks: SENTENCE".
tl::unexpected<Error> BadOption(const std::string& option, const std::string& sentence);

// The value of --`option`: a whole number, 1 … 1,000,000.
Result<int64_t> ParseCount(const std::string& option, const std::string& text);

// A whole number ≥ 1; nullopt for any other text.
std::optional<int64_t> WholeNumber(const std::optional<std::string>& text);

// A value of --nodes: "1", "1-2" (gives the minimum), "2k".
Result<int64_t> ParseNodeCount(const std::string& text);

}  // namespace gpuadvise::client
