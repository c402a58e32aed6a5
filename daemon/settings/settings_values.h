// Reads and shows the values of settings by their C++ type: texts, durations, lists, sections.
//
// A reader stores the value, or returns one sentence that names the key, shows what was written and
// says what to write instead; its pointer is where that stands. Pure; safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "daemon/settings/setting_form.h"

namespace gpuadvise::daemon {

using GpuAliases = std::vector<std::pair<std::string, std::string>>;
using UntypedRules = std::vector<SiteGpus::UntypedRule>;
using InterconnectRules = std::vector<SiteGpus::InterconnectRule>;

// A value of the file, where it stands (as a JSON pointer), and what it may be.
struct GivenSetting {
  const nlohmann::json& value;
  std::string at;
  const SettingForm& form;

  // "/simulation/seed" as people write it: "simulation.seed".
  std::string Name() const;
  // The error "NAME is VALUE; write REMEDY".
  tl::unexpected<Error> Expected(std::string_view remedy) const;
  // The error "NAME SENTENCE".
  tl::unexpected<Error> Refused(std::string_view sentence) const;
};

// The error of an unknown `key` of the object at `pointer`, with the nearest of `known`.
Error UnknownKey(std::string_view key, const std::string& pointer,
                 const std::vector<std::string>& known);

// The shortest exact form that is read back: "30s", "1500ms", "5m".
std::string DurationText(std::chrono::milliseconds duration);
// The same of a size: "1 GB", "64 MB", or "70000001 B".
std::string SizeText(Bytes size);

// A text, path, HOST:PORT or one of several words, as the form says.
Result<void> ReadSetting(const GivenSetting& given, std::string& into);
Result<void> ReadSetting(const GivenSetting& given, bool& into);
Result<void> ReadSetting(const GivenSetting& given, int64_t& into);
Result<void> ReadSetting(const GivenSetting& given, double& into);
// Octal digits: "0660", or 660 without quotes.
Result<void> ReadSetting(const GivenSetting& given, uint32_t& into);
// "30s", "5m", "2h", "500ms" or a plain number of seconds.
Result<void> ReadSetting(const GivenSetting& given, std::chrono::milliseconds& into);
// "1 GB", "512 MiB" or a plain number of bytes.
Result<void> ReadSetting(const GivenSetting& given, Bytes& into);
// One host name or a list of them, without scheme and path: [gpu.example.org].
Result<void> ReadSetting(const GivenSetting& given, std::vector<std::string>& into);
// What a site's GPUs are (site_gpu_settings.cc).
Result<void> ReadSetting(const GivenSetting& given, GpuAliases& into);
Result<void> ReadSetting(const GivenSetting& given, UntypedRules& into);
Result<void> ReadSetting(const GivenSetting& given, InterconnectRules& into);

// A value in the file's own words.
template <typename T>
nlohmann::json ShowSetting(const T& value) {
  return value;
}
nlohmann::json ShowSetting(uint32_t file_mode);
nlohmann::json ShowSetting(std::chrono::milliseconds duration);
nlohmann::json ShowSetting(Bytes size);
nlohmann::json ShowSetting(const GpuAliases& aliases);
nlohmann::json ShowSetting(const UntypedRules& rules);
nlohmann::json ShowSetting(const InterconnectRules& rules);

// ---- structs that list their keys: `T::Keys(f)` calls f("seed", &T::seed, form) for each ----

template <typename T>
concept HasKeys = requires {
  T::Keys([](const char*, auto, const SettingForm&) {});
};

template <HasKeys T>
nlohmann::json ShowSetting(const T& section) {
  nlohmann::json shown = nlohmann::json::object();
  T::Keys([&](const char* key, auto member, const SettingForm&) {
    shown[key] = ShowSetting(section.*member);
  });
  return shown;
}

template <HasKeys T>
std::vector<std::string> KeysOf() {
  std::vector<std::string> keys;
  T::Keys([&](const char* key, auto, const SettingForm&) { keys.emplace_back(key); });
  return keys;
}

// A section; null keeps the defaults.
template <HasKeys T>
Result<void> ReadSetting(const GivenSetting& given, T& into) {
  if (given.value.is_null()) return {};
  if (!given.value.is_object()) {
    return given.Refused(std::string("is not a mapping; write ") + given.form.words);
  }
  for (const auto& [name, value] : given.value.items()) {
    bool is_known = false;
    Result<void> read;
    T::Keys(
        [&, &name = name, &value = value](const char* key, auto member, const SettingForm& form) {
          if (name != key) return;
          is_known = true;
          read = ReadSetting({value, given.at + "/" + key, form}, into.*member);
        });
    if (!is_known) return tl::unexpected<Error>(UnknownKey(name, given.at, KeysOf<T>()));
    if (!read) return read;
  }
  return {};
}

}  // namespace gpuadvise::daemon
