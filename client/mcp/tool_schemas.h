// What the answers of the tools look like, as JSON Schema: the members that matter, with units.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace gpuadvise::client {

// The outputSchema of a tool. REQUIRES: one of Tools().
nlohmann::json OutputSchemaOf(const std::string& tool);

}  // namespace gpuadvise::client
