// Checks as people and programs read them. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/preflight/preflight.h"
#include "client/terminal/console.h"
#include "common/api/nodes.h"

namespace gpuadvise::client {

// "warning  space       …": as many lines as the width needs, ending in a newline.
std::string CheckText(const Check& check, const TerminalStyle& style);

// [{"check": "space", "health": "warning", "finding": "…"}, …]
nlohmann::json ChecksJson(const std::vector<Check>& checks);

// GET /v1/site as text: a line for each key that is set, by what the forecast makes of it.
std::string SiteText(const api::Site& site, const TerminalStyle& style);

bool HasError(const std::vector<Check>& checks);

}  // namespace gpuadvise::client
