// Finding what a person types in names that others chose. Any bytes; only ASCII letters have a
// case.
#pragma once

#include <string_view>

namespace gpuadvise {

/// Whether `part` stands in `text`, in upper or lower case; "" stands in everything.
bool ContainsInAnyCase(std::string_view text, std::string_view part);

}  // namespace gpuadvise
