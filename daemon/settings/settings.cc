#include "daemon/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>

#include "daemon/base/postgres_url.h"
#include "daemon/settings/settings_values.h"
#include "daemon/settings/site_gpu_settings.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::milliseconds;
namespace values = settings_values;

// Puts a value that was read into its place; passes an error on.
template <typename T>
Result<void> Store(Result<T> read, T& place) {
  if (!read) return tl::unexpected<Error>(std::move(read.error()));
  place = std::move(*read);
  return {};
}

// One key of the file: how it is read and how it is shown.
struct Key {
  const char* name;
  Result<void> (*read)(const json& value, const std::string& pointer, Settings& into);
  json (*show)(const Settings& settings);
};

template <std::string Settings::*kMember>
Result<void> ReadText(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Text(value, pointer), into.*kMember);
}

template <std::string Settings::*kMember>
Result<void> ReadPath(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Path(value, pointer), into.*kMember);
}

template <std::string Settings::*kMember>
Result<void> ReadNeededPath(const json& value, const std::string& pointer, Settings& into) {
  if (value.is_null() || value == json("")) {
    return BadInput(fmt::format("{} is empty; write an absolute path", pointer.substr(1)), pointer);
  }
  return ReadPath<kMember>(value, pointer, into);
}

template <std::string Settings::*kMember>
json ShowText(const Settings& settings) {
  return settings.*kMember;
}

template <milliseconds Settings::*kMember>
Result<void> ReadInterval(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Duration(value, pointer, milliseconds(100), hours(24)), into.*kMember);
}

Result<void> ReadAccounting(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Duration(value, pointer, milliseconds(0), hours(24)),
               into.accounting_interval);
}

Result<void> ReadAnswerTime(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Duration(value, pointer, milliseconds(50), hours(1)), into.answer_cpu_time);
}

Result<void> ReadHistory(const json& value, const std::string& pointer, Settings& into) {
  Result<std::string> text = values::Text(value, pointer);
  if (!text) return tl::unexpected<Error>(text.error());
  if (!text->empty()) {
    if (const auto place = ReadPostgresUrl(*text); !place) {
      return BadInput(place.error().message, pointer);
    }
  }
  into.history = std::move(*text);
  return {};
}

json ShowHistory(const Settings& settings) { return WithoutPassword(settings.history); }

Result<void> ReadRetention(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Duration(value, pointer, hours(24), hours(24 * 3'660)),
               into.history_retention);
}

// So much at least that a year of a small cluster fits in beside the experiment log.
constexpr int64_t kLeastHistoryBytes = 64'000'000;
constexpr int64_t kMostHistoryBytes = 1'000'000'000'000;

Result<void> ReadHistoryBytes(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Size(value, pointer, kLeastHistoryBytes, kMostHistoryBytes),
               into.history_max_bytes);
}

json ShowHistoryBytes(const Settings& settings) {
  return values::SizeText(settings.history_max_bytes);
}

template <milliseconds Settings::*kMember>
json ShowDuration(const Settings& settings) {
  return values::DurationText(settings.*kMember);
}

Result<void> ReadMode(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::FileMode(value, pointer), into.socket_mode);
}

json ShowMode(const Settings& settings) { return fmt::format("{:04o}", settings.socket_mode); }

Result<void> ReadListen(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Listen(value, pointer), into.listen);
}

Result<void> ReadRemote(const json& value, const std::string& pointer, Settings& into) {
  return remote_settings::ReadRemote(value, pointer, into.remote);
}

json ShowRemote(const Settings& settings) { return remote_settings::ShowRemote(settings.remote); }

Result<void> ReadRelay(const json& value, const std::string& pointer, Settings& into) {
  return remote_settings::ReadRelay(value, pointer, into.relay);
}

json ShowRelay(const Settings& settings) { return remote_settings::ShowRelay(settings.relay); }

constexpr size_t kMostClusters = 32;

Result<void> ReadClusters(const json& value, const std::string& pointer, Settings& into) {
  constexpr const char* kForm = "{NAME: \"https://HOST:6829\"}";
  if (value.is_null()) return {};
  if (!value.is_object() || value.size() > kMostClusters) {
    return BadInput(
        fmt::format("clusters is no mapping of at most {} names; write {}", kMostClusters, kForm),
        pointer);
  }
  std::map<std::string, std::string> read;
  for (const auto& [name, address] : value.items()) {
    const bool plain = !name.empty() && name.size() <= 64 &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                       });
    const bool https =
        address.is_string() && address.get_ref<const std::string&>().starts_with("https://");
    if (!plain || !https) {
      return BadInput(fmt::format("clusters has {}, which is no cluster with an address; write {}",
                                  Quoted(Shortened(name, kMostQuotedBytes)), kForm),
                      pointer);
    }
    read[name] = address.get<std::string>();
  }
  into.clusters = std::move(read);
  return {};
}

json ShowClusters(const Settings& settings) { return settings.clusters; }

Result<void> ReadSource(const json& value, const std::string& pointer, Settings& into) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.rfind("replay:/", 0) == 0) return Store(Result<std::string>(text), into.source);
    if (text.rfind("replay:", 0) == 0) {
      return BadInput(fmt::format("source is \"{}\"; write replay: and an absolute path", text),
                      pointer);
    }
  }
  return Store(
      values::OneOf(value, pointer,
                    {"auto", "slurm-api", "slurm-cli", "slurm-rest", "sim", "replay:FILE"}),
      into.source);
}

Result<void> ReadSimulation(const json& value, const std::string& pointer, Settings& into) {
  if (value.is_null()) return {};
  if (!value.is_object())
    return BadInput("simulation is not a mapping; write {seed: 1, speed: 1}", pointer);
  for (const auto& [key, inner] : value.items()) {
    const std::string place = pointer + "/" + key;
    Result<void> stored;
    if (key == "seed") {
      stored = Store(values::Count(inner, place, 0, INT64_C(1) << 53), into.simulation.seed);
    } else if (key == "speed") {
      stored = Store(values::Number(inner, place, 0.001, 100000), into.simulation.speed);
    } else if (key == "jobs_dir") {
      stored = Store(values::Path(inner, place), into.simulation.jobs_dir);
    } else {
      return tl::unexpected<Error>(values::UnknownKey(key, pointer, {"seed", "speed", "jobs_dir"}));
    }
    if (!stored) return stored;
  }
  return {};
}

json ShowSimulation(const Settings& settings) {
  return {{"seed", settings.simulation.seed},
          {"speed", settings.simulation.speed},
          {"jobs_dir", settings.simulation.jobs_dir}};
}

Result<std::string> SlurmrestdUrl(const json& value, const std::string& pointer) {
  Result<std::string> url = values::Text(value, pointer);
  if (!url || url->empty()) return url;
  for (const std::string_view start : {"unix:/", "http://", "https://"}) {
    if (url->size() > start.size() && url->starts_with(start)) return url;
  }
  return BadInput(fmt::format("slurmrestd.url is \"{}\"; write unix:/run/slurmrestd.sock, "
                              "http://HOST:6820 or https://HOST:6820",
                              *url),
                  pointer);
}

Result<void> ReadSlurmrestd(const json& value, const std::string& pointer, Settings& into) {
  if (value.is_null()) return {};
  if (!value.is_object()) {
    return BadInput("slurmrestd is not a mapping; write {url: \"unix:/run/slurmrestd.sock\"}",
                    pointer);
  }
  for (const auto& [key, inner] : value.items()) {
    const std::string place = pointer + "/" + key;
    Result<void> stored;
    if (key == "url") {
      stored = Store(SlurmrestdUrl(inner, place), into.slurmrestd.url);
    } else if (key == "token_file") {
      stored = Store(values::Path(inner, place), into.slurmrestd.token_file);
    } else if (key == "user") {
      stored = Store(values::Text(inner, place), into.slurmrestd.user);
    } else if (key == "ca_file") {
      stored = Store(values::Path(inner, place), into.slurmrestd.ca_file);
    } else {
      return tl::unexpected<Error>(
          values::UnknownKey(key, pointer, {"url", "token_file", "user", "ca_file"}));
    }
    if (!stored) return stored;
  }
  return {};
}

json ShowSlurmrestd(const Settings& settings) {
  return {{"url", settings.slurmrestd.url},
          {"token_file", settings.slurmrestd.token_file},
          {"user", settings.slurmrestd.user},
          {"ca_file", settings.slurmrestd.ca_file}};
}

// The socket of the first daemon, or https://HOST:PORT. What is on the way holds people's names,
// and who may have it is decided by who is at the other end: the uid on a socket, the certificate
// over TLS.
Result<std::string> FirstSocket(const json& value, const std::string& pointer) {
  Result<std::string> text = values::Text(value, pointer);
  if (!text || text->empty()) return text;
  if (text->rfind("unix:", 0) == 0) *text = text->substr(5);
  if (text->front() == '/' || text->starts_with("https://")) return text;
  return BadInput(
      fmt::format(
          "standby is \"{}\"; write https://HOST:PORT, or the path of a Unix socket on this "
          "host: the first daemon's own, or one that is forwarded to it",
          *text),
      pointer);
}

Result<void> ReadStandby(const json& value, const std::string& pointer, Settings& into) {
  if (value.is_null()) return {};
  if (value.is_string()) return Store(FirstSocket(value, pointer), into.standby.first);
  if (!value.is_object()) {
    return BadInput("standby is no socket; write /run/gpuadvise/first.sock", pointer);
  }
  using std::chrono::minutes;
  for (const auto& [key, inner] : value.items()) {
    const std::string place = pointer + "/" + key;
    Result<void> stored;
    if (key == "first") {
      stored = Store(FirstSocket(inner, place), into.standby.first);
    } else if (key == "check_interval") {  // three of them, and an answer's wait, are a minute
      stored = Store(values::Duration(inner, place, milliseconds(100), milliseconds(15'000)),
                     into.standby.check_interval);
    } else if (key == "copy_interval") {
      stored = Store(values::Duration(inner, place, milliseconds(100), minutes(10)),
                     into.standby.copy_interval);
    } else {
      return tl::unexpected<Error>(
          values::UnknownKey(key, pointer, {"first", "check_interval", "copy_interval"}));
    }
    if (!stored) return stored;
  }
  return {};
}

json ShowStandby(const Settings& settings) {
  return {{"first", settings.standby.first},
          {"check_interval", values::DurationText(settings.standby.check_interval)},
          {"copy_interval", values::DurationText(settings.standby.copy_interval)}};
}

template <auto kMember>
Result<void> ReadConnections(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::Count(value, pointer, 1, 100000), into.*kMember);
}

template <auto kMember>
json ShowCount(const Settings& settings) {
  return settings.*kMember;
}

Result<void> ReadHosts(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::HostNames(value, pointer), into.listen_hosts);
}

json ShowHosts(const Settings& settings) { return settings.listen_hosts; }

Result<void> ReadProxy(const json& value, const std::string& pointer, Settings& into) {
  return proxy_settings::Read(value, pointer, into.trusted_proxy);
}

json ShowProxy(const Settings& settings) { return proxy_settings::Show(settings.trusted_proxy); }

Result<void> ReadMetrics(const json& value, const std::string& pointer, Settings& into) {
  if (value.is_null()) return {};
  if (!value.is_object()) {
    return BadInput("metrics is not a mapping; write {exporter_names: true, per_node: false}",
                    pointer);
  }
  for (const auto& [key, inner] : value.items()) {
    const std::string place = pointer + "/" + key;
    bool MetricsNames::*const flag = key == "exporter_names" ? &MetricsNames::exporter_names
                                     : key == "per_node"     ? &MetricsNames::per_node
                                                             : nullptr;
    if (flag == nullptr) {
      return tl::unexpected<Error>(
          values::UnknownKey(key, pointer, {"exporter_names", "per_node"}));
    }
    if (!inner.is_boolean()) {
      return BadInput(fmt::format("metrics.{} is neither true nor false", key), place);
    }
    into.metrics.*flag = inner.get<bool>();
  }
  return {};
}

json ShowMetrics(const Settings& settings) {
  return {{"exporter_names", settings.metrics.exporter_names},
          {"per_node", settings.metrics.per_node}};
}

Result<void> ReadLevel(const json& value, const std::string& pointer, Settings& into) {
  return Store(values::OneOf(value, pointer, {"debug", "info", "warning", "error"}),
               into.log_level);
}

// The keys that say what a site's GPUs are (site_gpu_settings.h).
template <auto kRead>
Result<void> ReadSiteGpus(const json& value, const std::string& pointer, Settings& into) {
  return kRead(value, pointer, into.site_gpus);
}

template <auto kShow>
json ShowSiteGpus(const Settings& settings) {
  return kShow(settings.site_gpus);
}

namespace site = site_gpu_settings;
using S = Settings;
const Key kKeys[] = {
    {"socket", ReadNeededPath<&S::socket>, ShowText<&S::socket>},
    {"socket_mode", ReadMode, ShowMode},
    {"socket_group", ReadText<&S::socket_group>, ShowText<&S::socket_group>},
    {"listen", ReadListen, ShowText<&S::listen>},
    {"listen_hosts", ReadHosts, ShowHosts},
    {"trusted_proxy", ReadProxy, ShowProxy},
    {"listen_max_connections", ReadConnections<&S::listen_max_connections>,
     ShowCount<&S::listen_max_connections>},
    {"listen_max_connections_per_address", ReadConnections<&S::listen_max_connections_per_address>,
     ShowCount<&S::listen_max_connections_per_address>},
    {"state_dir", ReadNeededPath<&S::state_dir>, ShowText<&S::state_dir>},
    {"accounting_interval", ReadAccounting, ShowDuration<&S::accounting_interval>},
    {"outcomes_dir", ReadPath<&S::outcomes_dir>, ShowText<&S::outcomes_dir>},
    {"history", ReadHistory, ShowHistory},
    {"history_retention", ReadRetention, ShowDuration<&S::history_retention>},
    {"history_max_bytes", ReadHistoryBytes, ShowHistoryBytes},
    {"remote", ReadRemote, ShowRemote},
    {"relay", ReadRelay, ShowRelay},
    {"clusters", ReadClusters, ShowClusters},
    {"standby", ReadStandby, ShowStandby},
    {"source", ReadSource, ShowText<&S::source>},
    {"poll_interval", ReadInterval<&S::poll_interval>, ShowDuration<&S::poll_interval>},
    {"policy_interval", ReadInterval<&S::policy_interval>, ShowDuration<&S::policy_interval>},
    {"stale_after", ReadInterval<&S::stale_after>, ShowDuration<&S::stale_after>},
    {"slurm_conf", ReadPath<&S::slurm_conf>, ShowText<&S::slurm_conf>},
    {"slurm_bin_dir", ReadPath<&S::slurm_bin_dir>, ShowText<&S::slurm_bin_dir>},
    {"slurmrestd", ReadSlurmrestd, ShowSlurmrestd},
    {"collector", ReadPath<&S::collector>, ShowText<&S::collector>},
    {"gpus_file", ReadPath<&S::gpus_file>, ShowText<&S::gpus_file>},
    {"models_file", ReadPath<&S::models_file>, ShowText<&S::models_file>},
    {"gpu_aliases", ReadSiteGpus<site::ReadAliases>, ShowSiteGpus<site::ShowAliases>},
    {"untyped_gpus", ReadSiteGpus<site::ReadUntyped>, ShowSiteGpus<site::ShowUntyped>},
    {"interconnects", ReadSiteGpus<site::ReadInterconnects>, ShowSiteGpus<site::ShowInterconnects>},
    {"simulation", ReadSimulation, ShowSimulation},
    {"max_connections", ReadConnections<&S::max_connections>, ShowCount<&S::max_connections>},
    {"max_connections_per_user", ReadConnections<&S::max_connections_per_user>,
     ShowCount<&S::max_connections_per_user>},
    {"request_timeout", ReadInterval<&S::request_timeout>, ShowDuration<&S::request_timeout>},
    {"answer_cpu_time", ReadAnswerTime, ShowDuration<&S::answer_cpu_time>},
    {"metrics", ReadMetrics, ShowMetrics},
    {"log_level", ReadLevel, ShowText<&S::log_level>},
};

const Key* FindKey(const std::string& name) {
  const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                   [&](const Key& key) { return name == key.name; });
  return found == std::end(kKeys) ? nullptr : found;
}

}  // namespace

Result<Settings> SettingsFromJson(const json& document) {
  Settings settings;
  if (document.is_null()) return settings;
  if (!document.is_object()) {
    return BadInput("the settings are not a mapping; write one \"key: value\" a line");
  }
  for (const auto& [name, value] : document.items()) {
    const Key* key = FindKey(name);
    if (key == nullptr) return tl::unexpected<Error>(values::UnknownKey(name, "", SettingsKeys()));
    Result<void> read = key->read(value, "/" + name, settings);
    if (!read) return tl::unexpected<Error>(std::move(read.error()));
  }
  const TrustedProxySettings& proxy = settings.trusted_proxy;
  if (!proxy.header.empty() && proxy.SocketPath().empty() && settings.listen.empty()) {
    return BadInput(
        "trusted_proxy.address is one of TCP, and listen is empty; set listen: to "
        "where the proxy connects",
        "/trusted_proxy");
  }
  if (!proxy.header.empty() && proxy.SocketPath() == settings.socket) {
    return BadInput(
        "trusted_proxy.address is the socket of the clients; give the proxy one of "
        "its own, such as unix:/run/gpuadvise/proxy.sock",
        "/trusted_proxy/address");
  }
  return settings;
}

json SettingsToJson(const Settings& settings) {
  json document = json::object();
  for (const Key& key : kKeys) document[key.name] = key.show(settings);
  return document;
}

std::vector<std::string> SettingsKeys() {
  std::vector<std::string> names;
  for (const Key& key : kKeys) names.emplace_back(key.name);
  return names;
}

std::vector<std::string> ChangedKeys(const Settings& a, const Settings& b) {
  std::vector<std::string> changed;
  for (const Key& key : kKeys) {
    if (key.show(a) != key.show(b)) changed.emplace_back(key.name);
  }
  return changed;
}

}  // namespace gpuadvise::daemon
