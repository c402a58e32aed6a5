// What a user or site sets for the client: where the daemon is, own catalogues and the job
// template.
//
// Where it is: --socket; --daemon; GPUADVISE_SOCKET; else a socket of this host, before the list
// `daemon` of $XDG_CONFIG_HOME/gpuadvise/client.yaml or /etc/gpuadvise/client.yaml. The socket:
// `socket` of these files, /run/gpuadvise/gpuadvised.sock, that of the user's own daemon
// (gpuadvised --user), if it is the user's. The template: job.sbatch in the same two folders, else
// the one compiled in. Folders are arguments, so that tests have their own.
#pragma once

#include <string>
#include <vector>

#include "client/api/daemon_address.h"
#include "client/clusters/cluster.h"
#include "client/models/built_in.h"
#include "client/records/gpu_metrics.h"
#include "common/base/error.h"

namespace gpuadvise::client {

inline constexpr const char* kDefaultSocket = "/run/gpuadvise/gpuadvised.sock";

struct SettingsPlaces {
  std::string socket_flag;           // "" not given
  std::string socket_variable;       // "" not set
  std::vector<std::string> folders;  // strongest first
  std::string system_socket = kDefaultSocket;
  std::string runtime_dir = {};  // XDG_RUNTIME_DIR; "" not set
  std::string daemon_flag = {};  // "" not given
};

// The process's own: environment, $XDG_CONFIG_HOME/gpuadvise, /etc/gpuadvise.
SettingsPlaces PlacesFromEnvironment(const DaemonFlags& flags);

struct ClientSettings {
  DaemonAddress daemon;           // with a place at least
  bool own_daemon = false;        // the first is that of the user's own `gpuadvised --user`
  std::vector<Cluster> clusters;  // for -M, in the order of their names
  OwnCatalogues own;   // gpus_file and models_file, beside the settings file that names them
  GpuMetrics metrics;  // prometheus, gpu_use_query and gpu_memory_query
};

// Each key from the strongest place that has it. Errors: a settings file that cannot be read, with
// its line.
Result<ClientSettings> FindSettings(const SettingsPlaces& places);

// The template's text.
Result<std::string> FindJobTemplate(const SettingsPlaces& places);

// The settings files that exist, strongest first.
std::vector<std::string> SettingsFiles(const SettingsPlaces& places);

}  // namespace gpuadvise::client
