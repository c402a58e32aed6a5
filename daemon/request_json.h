// A request's body as JSON: an object, nested at most kMaxJsonDepth deep, valid UTF-8. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "common/error.h"

namespace gpuadvise {

inline constexpr int kMaxJsonDepth = 64;

/// Errors: kBadInput with the byte where the text stops being JSON.
Result<nlohmann::json> ParseRequestJson(std::string_view body);

}  // namespace gpuadvise
