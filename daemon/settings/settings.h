// What a site may set: the daemon's settings as a plain value, and how they are read from JSON.
//
// A setting stands once, in config/gpuadvised.yaml: its name, default, range and meaning. From that
// file config/make_settings.py makes `struct Settings`. A site's YAML file arrives here as JSON;
// settings_file.h reads the file itself. Unknown keys are refused with the nearest known one, bad
// values with what to write instead; every error carries the JSON pointer of its key.
// Pure; safe from any thread. Times are std::chrono, sizes counts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "embedded/settings_table.h"

namespace gpuadvise::daemon {

// Reads `document` (an object; null counts as empty) over the defaults.
// Errors: kBadInput with one sentence and the JSON pointer of the key; of keys that were removed
// all, the others in Error::further.
Result<Settings> SettingsFromJson(const nlohmann::json& document);

// Every key with its value, in the file's own words: SettingsFromJson(SettingsToJson(s)) == s, but
// for a password in the URL of the history, which is shown as ***.
nlohmann::json SettingsToJson(const Settings& settings);

// The keys of the file, in the order of the shipped one.
std::vector<std::string> SettingsKeys();

// The keys whose value differs between `a` and `b`.
std::vector<std::string> ChangedKeys(const Settings& a, const Settings& b);

// Whether `key` is read at the start only.
bool NeedsRestart(std::string_view key);

// gpu_aliases, untyped_gpus and interconnects.
SiteGpus SiteGpusOf(const Settings& settings);

// Where the login proxy connects on this machine; "": over TCP, or there is none.
std::string ProxySocket(const TrustedProxySettings& proxy);

}  // namespace gpuadvise::daemon
