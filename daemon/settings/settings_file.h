// Finding and reading the settings file, with errors that name file and line.
// Blocking file access; call it from the main thread, at start and on reload.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/yaml/yaml_document.h"
#include "daemon/settings/settings.h"

namespace gpuadvise::daemon {

inline constexpr const char* kDefaultSettingsFile = "/etc/gpuadvise/gpuadvised.yaml";

// What the command line fixes; wins over the file, also after a reload. Empty: not given.
struct CommandLineSettings {
  bool user = false;  // --user: a user's own daemon, with other defaults (user_places.h)
  std::string config;
  std::string socket;
  std::string source;
  std::string state_dir;
};

struct LoadedSettings {
  Settings settings;
  std::string file;  // the file they came from; "" for the built-in defaults
};

// The settings of `text`, whose errors start with "FILE:LINE: ".
Result<Settings> ParseSettings(const std::string& text, const std::string& file);

// Reads --config, else kDefaultSettingsFile (with --user, the user's own) if it exists, else the
// built-in defaults, and puts what the command line fixes on top. Errors start with "FILE:LINE: "
// or name the option.
Result<LoadedSettings> LoadSettings(const CommandLineSettings& command_line);

// A sentence with the remedy for each file with a secret that everybody on this machine may read.
std::vector<std::string> SecretsForAll(const LoadedSettings& loaded);

// A file that a setting names. Errors: as LoadYamlFile's, and where it is no regular file: nobody
// waits for what a FIFO may bring.
Result<YamlDocument> LoadSiteFile(const std::string& path);

}  // namespace gpuadvise::daemon
