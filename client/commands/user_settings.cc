#include "client/commands/user_settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/words.h"
#include "common/net/http_call.h"
#include "common/yaml/yaml_file.h"
#include "embedded/default_sbatch_template.h"

namespace gpuadvise::client {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

constexpr const char* kClusters = "clusters";

Result<void> CheckClusters(const nlohmann::json& clusters) {
  for (const auto& [name, value] : clusters.items()) {
    const Result<Cluster> read = ReadCluster(name, value, {});
    if (!read) return tl::unexpected<Error>(read.error());
  }
  return {};
}

// What the files say, before what is not said has its usual value.
struct Taken {
  ClientSettings settings;
  std::string socket;
  std::string daemon;
  nlohmann::json clusters;  // null: none
};

// Takes what one client.yaml says and nothing stronger has said.
Result<void> Take(const std::string& path, Taken& taken) {
  ClientSettings& settings = taken.settings;
  const std::vector<std::pair<std::string, std::string*>> keys = {
      {"socket", &taken.socket},
      {"daemon", &taken.daemon},
      {"ca", &settings.daemon.ca},
      {"token_file", &settings.daemon.token_file},
      {"munge_socket", &settings.daemon.munge_socket},
      {"gpus_file", &settings.own.gpus_file},
      {"models_file", &settings.own.models_file},
      {"prometheus", &settings.metrics.prometheus},
      {"gpu_use_query", &settings.metrics.use_query},
      {"gpu_memory_query", &settings.metrics.memory_query}};
  const Result<YamlDocument> document = LoadYamlFile(path, YamlRules::kMayBeEmpty);
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
    if (key == "ca_file") return refuse("ca_file is now called ca", key);
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
    const bool is_file = key.ends_with("_file") || key == "ca";
    if (!value.is_string())
      return refuse(key + (is_file || key == "socket" ? " must be a path" : " must be a text"),
                    key);
    const auto& text = value.get_ref<const std::string&>();
    if (key == "prometheus" && !text.empty() && !ReadHttpPlace(text)) {
      return refuse("prometheus must be a URL such as http://prometheus:9090", key);
    }
    if (key == "socket" && text.starts_with("https:")) {
      return refuse("socket is a path; another host goes under daemon:", key);
    }
    if (key == "daemon" && !text.empty()) {
      if (const auto list = ReadDaemonList(text); !list) return refuse(list.error().message, key);
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

// The socket of the user's own daemon; "": there is none, or somebody else's is there.
std::string OwnSocket(const SettingsPlaces& places) {
  if (!places.runtime_dir.starts_with('/')) return "";
  const std::string folder = places.runtime_dir + "/gpuadvise";
  const std::string socket = folder + "/gpuadvised.sock";
  const bool is_own = IsOwn(folder, [](mode_t mode) { return S_ISDIR(mode); }) &&
                      IsOwn(socket, [](mode_t mode) { return S_ISSOCK(mode); });
  return is_own ? socket : "";
}

// What the command line or the environment names; empty: nothing.
Result<std::vector<std::string>> NamedPlaces(const SettingsPlaces& places) {
  if (!places.socket_flag.empty() && !places.daemon_flag.empty()) {
    return BadInput("--socket and --daemon cannot be combined");
  }
  if (!places.daemon_flag.empty()) {
    Result<std::vector<std::string>> list = ReadDaemonList(places.daemon_flag);
    if (!list) return BadInput("--daemon: " + list.error().message);
    return list;
  }
  const bool by_flag = !places.socket_flag.empty();
  const std::string& socket = by_flag ? places.socket_flag : places.socket_variable;
  if (socket.starts_with("https:")) {
    return BadInput(std::string(by_flag ? "--socket" : "GPUADVISE_SOCKET") +
                    " is a path; name another host with --daemon, or as daemon: in client.yaml");
  }
  return socket.empty() ? std::vector<std::string>() : std::vector{socket};
}

// This host's socket, then the other hosts of the settings.
void ChooseUsualPlaces(const SettingsPlaces& places, const Taken& said, ClientSettings& settings) {
  std::vector<std::string>& chosen = settings.daemon.places;
  if (!said.daemon.empty()) chosen = *ReadDaemonList(said.daemon);
  std::string socket = said.socket;
  if (socket.empty() && Exists(places.system_socket)) socket = places.system_socket;
  if (socket.empty()) {
    socket = OwnSocket(places);
    settings.own_daemon = !socket.empty();
  }
  if (socket.empty() && chosen.empty()) socket = places.system_socket;
  if (!socket.empty()) chosen.insert(chosen.begin(), socket);
}

}  // namespace

SettingsPlaces PlacesFromEnvironment(const DaemonFlags& flags) {
  SettingsPlaces places{flags.socket, Variable("GPUADVISE_SOCKET"), {}};
  places.daemon_flag = flags.daemon;
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
  for (const std::string& path : SettingsFiles(places)) {
    if (Result<void> taken = Take(path, said); !taken) {
      return tl::unexpected<Error>(taken.error());
    }
  }
  Result<std::vector<std::string>> named = NamedPlaces(places);
  if (!named) return tl::unexpected<Error>(std::move(named.error()));
  settings.daemon.places = std::move(*named);
  if (settings.daemon.places.empty()) ChooseUsualPlaces(places, said, settings);
  if (settings.metrics.use_query.empty()) settings.metrics.use_query = kUsualUseQuery;
  if (settings.metrics.memory_query.empty()) settings.metrics.memory_query = kUsualMemoryQuery;
  for (const auto& [name, value] : said.clusters.items()) {
    settings.clusters.push_back(*ReadCluster(name, value, settings.daemon));
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
