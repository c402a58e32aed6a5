// What a site may set: the daemon's settings as a plain value, and how they are read from JSON.
//
// The YAML file (config/gpuadvised.yaml documents every key at its default) arrives here as JSON;
// settings_file.h reads the file itself. Unknown keys are refused with the nearest known one, bad
// values with what to write instead; every error carries the JSON pointer of its key.
// Pure; safe from any thread. Times are std::chrono, sizes counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_catalogue.h"
#include "daemon/settings/proxy_settings.h"
#include "daemon/settings/remote_settings.h"

namespace gpuadvise::daemon {

// The embedded cluster of `source: sim`.
struct SimulationSettings {
  int64_t seed = 1;
  double speed = 1;           // simulated seconds a real second
  std::string jobs_dir = {};  // of jobs that people submit to it; "": none
  friend bool operator==(const SimulationSettings&, const SimulationSettings&) = default;
};

// Where `source: slurm-rest` finds slurmrestd and as whom it asks.
struct SlurmrestdSettings {
  std::string url = {};         // unix:/PATH, http://HOST:PORT, https://HOST:PORT; "": none
  std::string token_file = {};  // a JWT, for rest_auth/jwt; "": none (rest_auth/local)
  std::string user = {};        // of the token; "": the one that it names
  std::string ca_file = {};     // certificates that https is checked with; "": the system's
  friend bool operator==(const SlurmrestdSettings&, const SlurmrestdSettings&) = default;
};

// Which names GET /metrics has.
struct MetricsNames {
  bool exporter_names = true;  // slurm_*
  bool per_node = false;       // slurm_node_gres_*: a series a node
  friend bool operator==(const MetricsNames&, const MetricsNames&) = default;
};

// Of a daemon that stands by for another (docs/site-guide.md, "A standby").
struct StandbySettings {
  std::string first = {};  // a socket that leads to the first daemon, or https://; "": no standby
  std::chrono::milliseconds check_interval = std::chrono::seconds(10);
  std::chrono::milliseconds copy_interval = std::chrono::minutes(5);
  friend bool operator==(const StandbySettings&, const StandbySettings&) = default;
};

struct Settings {
  std::string socket = "/run/gpuadvise/gpuadvised.sock";
  uint32_t socket_mode = 0666;
  std::string socket_group;               // "": the daemon's own group
  std::string listen;                     // "HOST:PORT"; "": no TCP listener
  std::vector<std::string> listen_hosts;  // names beside addresses and localhost
  TrustedProxySettings trusted_proxy;     // header "": none
  int64_t listen_max_connections = 2048;
  int64_t listen_max_connections_per_address = 512;
  std::string state_dir = "/var/lib/gpuadvise";
  std::string outcomes_dir;                                                  // "": none
  std::chrono::milliseconds accounting_interval = std::chrono::minutes(10);  // 0: never
  std::string history;  // postgresql://...; "": a file in state_dir
  std::chrono::milliseconds history_retention = std::chrono::hours(400 * 24);
  int64_t history_max_bytes = 1'000'000'000;
  RemoteSettings remote;
  RelaySettings relay;
  std::map<std::string, std::string> clusters;  // name -> https://HOST:PORT of its daemon
  StandbySettings standby;
  std::string source = "auto";  // auto, slurm-api, slurm-cli, slurm-rest, sim, replay:FILE
  std::chrono::milliseconds poll_interval = std::chrono::seconds(30);
  std::chrono::milliseconds policy_interval = std::chrono::minutes(5);
  std::chrono::milliseconds stale_after = std::chrono::minutes(2);
  std::string slurm_conf;     // "": as Slurm's own commands find it
  std::string slurm_bin_dir;  // "": PATH
  SlurmrestdSettings slurmrestd;
  std::string collector;    // "": beside the daemon, then in libexec
  std::string gpus_file;    // "": the built-in catalogue alone
  std::string models_file;  // "": the built-in presets alone
  SiteGpus site_gpus;       // gpu_aliases, untyped_gpus, interconnects
  SimulationSettings simulation;
  int64_t max_connections = 256;
  int64_t max_connections_per_user = 64;
  std::chrono::milliseconds request_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds answer_cpu_time{250};
  MetricsNames metrics;
  std::string log_level = "info";
};

// Reads `document` (an object; null counts as empty) over the defaults.
// Errors: kBadInput with one sentence and the JSON pointer of the key.
Result<Settings> SettingsFromJson(const nlohmann::json& document);

// Every key with its value, in the file's own words: SettingsFromJson(SettingsToJson(s)) == s, but
// for a password in the URL of the history, which is shown as ***.
nlohmann::json SettingsToJson(const Settings& settings);

// The keys of the file, in the order of the shipped one.
std::vector<std::string> SettingsKeys();

// The keys whose value differs between `a` and `b`.
std::vector<std::string> ChangedKeys(const Settings& a, const Settings& b);

}  // namespace gpuadvise::daemon
