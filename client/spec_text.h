// Texts of a training file's JSON as they go into a script: newlines and all. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpuadvise {

/// The member's text; "" where there is none, JSON for what is no text.
std::string RawText(const nlohmann::json& object, const char* key);

/// One text or a list of texts.
std::vector<std::string> RawTexts(const nlohmann::json& object, const char* key);

std::string WithoutTrailingNewlines(std::string text);

}  // namespace gpuadvise
