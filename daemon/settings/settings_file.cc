#include "daemon/settings/settings_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/yaml/yaml_file.h"
#include "daemon/base/postgres_url.h"
#include "daemon/settings/user_places.h"

namespace gpuadvise::daemon {
namespace {

// Relative paths on the command line mean the folder the daemon was started in.
std::string Absolute(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return ignored ? path : absolute.lexically_normal().string();
}

std::string AbsoluteSource(const std::string& source) {
  const std::string prefix = "replay:";
  if (source.rfind(prefix, 0) != 0 || source.size() == prefix.size()) return source;
  return prefix + Absolute(source.substr(prefix.size()));
}

// The file's keys with the command line's put over them, so that both are checked alike.
nlohmann::json Overridden(nlohmann::json document, const CommandLineSettings& command_line) {
  if (!command_line.socket.empty()) document["socket"] = Absolute(command_line.socket);
  if (!command_line.source.empty()) document["source"] = AbsoluteSource(command_line.source);
  if (!command_line.state_dir.empty()) document["state_dir"] = Absolute(command_line.state_dir);
  return document;
}

// A user's own daemon asks Slurm's commands as that user does, half as often as the site's, and
// answers nobody else.
nlohmann::json WithUserDefaults(nlohmann::json document, const UserPlaces& places) {
  const nlohmann::json defaults = {{"socket", places.socket()},     {"socket_mode", "0600"},
                                   {"state_dir", places.state_dir}, {"source", "slurm-cli"},
                                   {"poll_interval", "60s"},        {"stale_after", "4 min"}};
  if (document.is_null()) document = nlohmann::json::object();
  for (const auto& [key, value] : defaults.items()) {
    if (!document.contains(key)) document[key] = value;
  }
  return document;
}

const char* VariableOfProcess(const char* name) { return std::getenv(name); }

Result<Settings> FromDocument(const YamlDocument& document, const std::string& file) {
  Result<Settings> settings = SettingsFromJson(document.root);
  if (settings) return settings;
  Error told = settings.error();
  told.message = Describe(told, file, document);
  for (Error& each : told.further) each.message = Describe(each, file, document);
  return tl::unexpected<Error>(std::move(told));
}

}  // namespace

Result<Settings> ParseSettings(const std::string& text, const std::string& file) {
  Result<YamlDocument> document = ParseYaml(text, file, YamlRules::kMayBeEmpty);
  if (!document) return tl::unexpected<Error>(std::move(document.error()));
  return FromDocument(*document, file);
}

Result<YamlDocument> LoadSiteFile(const std::string& path) {
  struct stat info {};
  const bool is_there = stat(path.c_str(), &info) == 0 && path != "/dev/null";
  if (is_there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return BadInput(path + ": not a regular file (a FIFO, socket or device); name a file");
  }
  return LoadYamlFile(path, YamlRules::kMayBeEmpty);
}

std::vector<std::string> SecretsForAll(const LoadedSettings& loaded) {
  const std::string& url = loaded.settings.history;
  const bool has_password = !loaded.file.empty() && WithoutPassword(url) != url;
  std::vector<std::string> sentences;
  const auto look_at = [&](const std::string& file, const char* secret) {
    struct stat info {};
    if (stat(file.c_str(), &info) != 0 || (info.st_mode & S_IROTH) == 0) return;
    sentences.push_back(fmt::format(
        "every user of this machine can read {}, and with it {}; chmod o= {}", file, secret, file));
  };
  if (has_password) look_at(loaded.file, "the password of history:");
  const std::string& token_file = loaded.settings.slurmrestd.token_file;
  if (!token_file.empty()) look_at(token_file, "a token of Slurm's");
  return sentences;
}

Result<LoadedSettings> LoadSettings(const CommandLineSettings& command_line) {
  std::string file = command_line.config;
  struct stat info {};
  std::string usual = kDefaultSettingsFile;
  UserPlaces places;
  if (command_line.user) {
    Result<UserPlaces> found = FindUserPlaces(VariableOfProcess, ::geteuid());
    if (!found) return tl::unexpected<Error>(std::move(found.error()));
    places = std::move(*found);
    usual = places.config_file;
  }
  if (file.empty() && stat(usual.c_str(), &info) == 0) file = usual;
  YamlDocument document;
  if (!file.empty()) {
    Result<YamlDocument> loaded = LoadSiteFile(file);
    if (!loaded) return tl::unexpected<Error>(std::move(loaded.error()));
    document = std::move(*loaded);
    Result<Settings> checked = FromDocument(document, file);
    if (!checked) return tl::unexpected<Error>(std::move(checked.error()));
  }
  if (command_line.user) document.root = WithUserDefaults(std::move(document.root), places);
  Result<Settings> settings = SettingsFromJson(Overridden(document.root, command_line));
  if (!settings) {
    return BadInput(fmt::format("command line: {}", settings.error().message));
  }
  return LoadedSettings{std::move(*settings), std::move(file)};
}

}  // namespace gpuadvise::daemon
