// Includes of nearly all files, parsed once for all. The presets asan, tsan and fuzz do without, so
// that each file's own includes are checked.
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
