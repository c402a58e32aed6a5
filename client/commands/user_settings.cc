#include "client/commands/user_settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/words.h"
#include "embedded/default_sbatch_template.h"
#include "yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Takes what one client.yaml says and nothing stronger has said.
Result<void> Take(const std::string& path, ClientSettings& settings) {
  const std::vector<std::pair<std::string, std::string*>> keys = {
      {"socket", &settings.socket},
      {"gpus_file", &settings.own.gpus_file},
      {"models_file", &settings.own.models_file}};
  const Result<YamlDocument> document = LoadYamlFile(path, EmptyYaml::kEmptyMap);
  if (!document) return tl::unexpected<Error>(document.error());
  const auto refuse = [&](const std::string& message, const std::string& key) {
    return BadInput(Describe({ErrorCode::kBadInput, message, "/" + key}, path, *document));
  };
  for (const auto& entry : document->root.items()) {
    const std::string& key = entry.key();
    const auto& value = entry.value();
    const auto known =
        std::find_if(keys.begin(), keys.end(), [&](const auto& each) { return each.first == key; });
    if (known == keys.end()) {
      const std::vector<std::string> names = {"socket", "gpus_file", "models_file"};
      return refuse("unknown key " + Quoted(key) + DidYouMean(key, names) +
                        "; the client has socket, gpus_file and models_file",
                    key);
    }
    if (!value.is_string()) return refuse(key + " must be a path", key);
    const auto& text = value.get_ref<const std::string&>();
    if (!known->second->empty() || text.empty()) continue;
    const bool beside = key != "socket" && !text.starts_with('/');
    *known->second = beside ? path.substr(0, path.rfind('/') + 1) + text : text;
  }
  return {};
}

}  // namespace

SettingsPlaces PlacesFromEnvironment(const std::string& socket_flag) {
  SettingsPlaces places{socket_flag, Variable("GPUADVISE_SOCKET"), {}};
  std::string home = Variable("XDG_CONFIG_HOME");
  if (home.empty() && !Variable("HOME").empty()) home = Variable("HOME") + "/.config";
  if (!home.empty()) places.folders.push_back(home + "/gpuadvise");
  places.folders.push_back("/etc/gpuadvise");
  return places;
}

Result<ClientSettings> FindSettings(const SettingsPlaces& places) {
  ClientSettings settings;
  settings.socket = places.socket_flag.empty() ? places.socket_variable : places.socket_flag;
  for (const std::string& path : SettingsFiles(places)) {
    if (Result<void> taken = Take(path, settings); !taken) {
      return tl::unexpected<Error>(taken.error());
    }
  }
  if (settings.socket.empty()) settings.socket = kDefaultSocket;
  return settings;
}

Result<std::string> FindJobTemplate(const SettingsPlaces& places) {
  for (const std::string& folder : places.folders) {
    const std::string path = folder + "/job.sbatch";
    if (Exists(path)) return ReadTextFile(path);
  }
  return std::string(DefaultSbatchTemplate());
}

std::vector<std::string> SettingsFiles(const SettingsPlaces& places) {
  std::vector<std::string> files;
  for (const std::string& folder : places.folders) {
    const std::string path = folder + "/client.yaml";
    if (Exists(path)) files.push_back(path);
  }
  return files;
}

}  // namespace gpuadvise::client
