// Includes of nearly all files, parsed once in release builds. Debug builds do not use it, so that
// each file's own includes are checked.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

extern template class nlohmann::basic_json<>;  // compiled once, in precompiled.cc
