// Types of plain YAML scalars in the core schema of YAML 1.2 (chapter 10.3.2).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

// null, a boolean, a number or a string. Errors (without file and line) for numbers that JSON
// cannot express: .inf, .nan and those beyond a double.
Result<nlohmann::json> PlainScalar(const std::string& text);

// `text` with an explicit tag ("tag:yaml.org,2002:str"). Errors: unknown tags.
Result<nlohmann::json> TaggedScalar(const std::string& tag, const std::string& text);

// `text` as a block scalar that parses to exactly this string; plain if safe.
std::string YamlText(std::string_view text);

}  // namespace gpuadvise
