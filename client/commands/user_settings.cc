#include "client/commands/user_settings.h"

#include <sys/stat.h>
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

// Without a blank or what ends an argument; libcurl takes no other scheme here.
bool IsUrl(const std::string& text) {
  return (text.starts_with("http://") || text.starts_with("https://")) &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

constexpr const char* kClusters = "clusters";

Result<void> CheckClusters(const nlohmann::json& clusters) {
  for (const auto& [name, value] : clusters.items()) {
    const Result<Cluster> read = ReadCluster(name, value, DaemonAddress(""));
    if (!read) return tl::unexpected<Error>(read.error());
  }
  return {};
}

// What the files say, before what is not said has its usual value.
struct Taken {
  ClientSettings settings;
  nlohmann::json clusters;  // null: none
};

// Takes what one client.yaml says and nothing stronger has said.
Result<void> Take(const std::string& path, Taken& taken) {
  ClientSettings& settings = taken.settings;
  const std::vector<std::pair<std::string, std::string*>> keys = {
      {"socket", &settings.socket},
      {"ca_file", &settings.ca_file},
      {"token_file", &settings.token_file},
      {"munge_socket", &settings.munge_socket},
      {"gpus_file", &settings.own.gpus_file},
      {"models_file", &settings.own.models_file},
      {"prometheus", &settings.metrics.prometheus},
      {"gpu_use_query", &settings.metrics.use_query},
      {"gpu_memory_query", &settings.metrics.memory_query}};
  const Result<YamlDocument> document = LoadYamlFile(path, EmptyYaml::kEmptyMap);
  if (!document) return tl::unexpected<Error>(document.error());
  const auto refuse = [&](const std::string& message, const std::string& key) {
    return BadInput(Describe({ErrorCode::kBadInput, message, "/" + key}, path, *document));
  };
  for (const auto& entry : document->root.items()) {
    const std::string& key = entry.key();
    const auto& value = entry.value();
    if (key == kClusters) {
      if (!value.is_object()) return refuse("clusters must name each cluster: {a: /PATH}", key);
      if (taken.clusters.is_null()) taken.clusters = value;
      if (Result<void> good = CheckClusters(value); !good) {
        return refuse(good.error().message, key);
      }
      continue;
    }
    const auto known =
        std::find_if(keys.begin(), keys.end(), [&](const auto& each) { return each.first == key; });
    if (known == keys.end()) {
      std::vector<std::string> names;
      for (const auto& each : keys) names.push_back(each.first);
      names.emplace_back(kClusters);
      std::string all;
      for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
      return refuse("unknown key " + Quoted(key) + DidYouMean(key, names) + "; the keys are " + all,
                    key);
    }
    const bool is_file = key.ends_with("_file");
    if (!value.is_string())
      return refuse(key + (is_file || key == "socket" ? " must be a path" : " must be a text"),
                    key);
    const auto& text = value.get_ref<const std::string&>();
    if (key == "prometheus" && !text.empty() && !IsUrl(text)) {
      return refuse("prometheus must be a URL such as http://prometheus:9090", key);
    }
    if (!known->second->empty() || text.empty()) continue;
    const bool beside = is_file && !text.starts_with('/');
    *known->second = beside ? path.substr(0, path.rfind('/') + 1) + text : text;
  }
  return {};
}

// Another user could have put a socket, or a link to one, where this user's is looked for.
bool IsOwn(const std::string& path, bool (*right_kind)(mode_t mode)) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && right_kind(info.st_mode) &&
         info.st_uid == ::geteuid();
}

// The site's daemon, else the user's own.
void ChooseUsualSocket(const SettingsPlaces& places, ClientSettings* settings) {
  settings->socket = places.system_socket;
  if (Exists(places.system_socket) || !places.runtime_dir.starts_with('/')) return;
  const std::string folder = places.runtime_dir + "/gpuadvise";
  const std::string socket = folder + "/gpuadvised.sock";
  settings->own_daemon = IsOwn(folder, [](mode_t mode) { return S_ISDIR(mode); }) &&
                         IsOwn(socket, [](mode_t mode) { return S_ISSOCK(mode); });
  if (settings->own_daemon) settings->socket = socket;
}

}  // namespace

SettingsPlaces PlacesFromEnvironment(const std::string& socket_flag) {
  SettingsPlaces places{socket_flag, Variable("GPUADVISE_SOCKET"), {}};
  std::string home = Variable("XDG_CONFIG_HOME");
  if (home.empty() && !Variable("HOME").empty()) home = Variable("HOME") + "/.config";
  if (!home.empty()) places.folders.push_back(home + "/gpuadvise");
  places.folders.push_back("/etc/gpuadvise");
  places.runtime_dir = Variable("XDG_RUNTIME_DIR");
  return places;
}

Result<ClientSettings> FindSettings(const SettingsPlaces& places) {
  Taken said;
  ClientSettings& settings = said.settings;
  settings.socket = places.socket_flag.empty() ? places.socket_variable : places.socket_flag;
  for (const std::string& path : SettingsFiles(places)) {
    if (Result<void> taken = Take(path, said); !taken) {
      return tl::unexpected<Error>(taken.error());
    }
  }
  if (settings.socket.empty()) ChooseUsualSocket(places, &settings);
  if (settings.metrics.use_query.empty()) settings.metrics.use_query = kUsualUseQuery;
  if (settings.metrics.memory_query.empty()) settings.metrics.memory_query = kUsualMemoryQuery;
  for (const auto& [name, value] : said.clusters.items()) {
    settings.clusters.push_back(*ReadCluster(name, value, settings.daemon()));
  }
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
