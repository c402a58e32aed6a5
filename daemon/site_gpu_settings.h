// What the settings say about a site's GPUs: gpu_aliases, untyped_gpus, interconnects.
//
// Readers store into the settings or return one sentence with a pointer and the remedy. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/error.h"
#include "daemon/settings.h"

namespace gpuadvise::site_gpu_settings {

Result<void> ReadAliases(const nlohmann::json& value, const std::string& pointer, Settings& into);
nlohmann::json ShowAliases(const Settings& settings);

Result<void> ReadUntyped(const nlohmann::json& value, const std::string& pointer, Settings& into);
nlohmann::json ShowUntyped(const Settings& settings);

Result<void> ReadInterconnects(const nlohmann::json& value, const std::string& pointer,
                               Settings& into);
nlohmann::json ShowInterconnects(const Settings& settings);

}  // namespace gpuadvise::site_gpu_settings
