// Readers for single values of the settings: text, durations, counts, file modes, lists of names.
//
// Each returns the value or one sentence that names the key, shows what was written and says what
// to write instead; the pointer is `pointer`. Pure; safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::daemon::settings_values {

Result<std::string> Text(const nlohmann::json& value, const std::string& pointer);

// "" or an absolute path.
Result<std::string> Path(const nlohmann::json& value, const std::string& pointer);

// "30s", "5m", "2h", "500ms" or a plain number of seconds, within [low, high].
Result<std::chrono::milliseconds> Duration(const nlohmann::json& value, const std::string& pointer,
                                           std::chrono::milliseconds low,
                                           std::chrono::milliseconds high);

// The shortest exact form that Duration() reads back: "30s", "1500ms", "5m".
std::string DurationText(std::chrono::milliseconds duration);

// "1 GB", "512 MiB" or a plain number of bytes, within [low, high].
Result<int64_t> Size(const nlohmann::json& value, const std::string& pointer, int64_t low,
                     int64_t high);

// The shortest exact form that Size() reads back: "1 GB", "64 MB", or "70000001 B".
std::string SizeText(int64_t bytes);

Result<int64_t> Count(const nlohmann::json& value, const std::string& pointer, int64_t low,
                      int64_t high);

Result<double> Number(const nlohmann::json& value, const std::string& pointer, double low,
                      double high);

// Octal digits: "0660", or 660 without quotes.
Result<uint32_t> FileMode(const nlohmann::json& value, const std::string& pointer);

Result<std::string> OneOf(const nlohmann::json& value, const std::string& pointer,
                          const std::vector<std::string>& allowed);

// "" or "HOST:PORT", where HOST may not be missing: "127.0.0.1:6828".
Result<std::string> Listen(const nlohmann::json& value, const std::string& pointer);

// One host name or a list of them, without scheme and path: [gpu.example.org].
Result<std::vector<std::string>> HostNames(const nlohmann::json& value, const std::string& pointer);

// The error of an unknown `key` of the object at `pointer`, with the nearest of `known`.
Error UnknownKey(std::string_view key, const std::string& pointer,
                 const std::vector<std::string>& known);

}  // namespace gpuadvise::daemon::settings_values
