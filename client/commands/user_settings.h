// What a user or site sets for the client: the socket, own catalogues and the job template.
//
// Order for the socket: --socket, GPUADVISE_SOCKET, $XDG_CONFIG_HOME/gpuadvise/client.yaml,
// /etc/gpuadvise/client.yaml, /run/gpuadvise/gpuadvised.sock, the socket of the user's own daemon
// (gpuadvised --user), if it is the user's. The template: job.sbatch in the same
// two folders, else the one compiled in. Folders are arguments, so that tests have their own.
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
};

// The process's own: environment, $XDG_CONFIG_HOME/gpuadvise, /etc/gpuadvise.
SettingsPlaces PlacesFromEnvironment(const std::string& socket_flag);

struct ClientSettings {
  std::string socket;             // never ""; or https://HOST:PORT
  std::string ca_file = {};       // of https; "": whom this machine trusts
  std::string token_file = {};    // of https; "": SLURM_JWT, else munge
  std::string munge_socket = {};  // of https: munged\'s; "": libmunge\'s own
  bool own_daemon = false;        // it is that of the user's own `gpuadvised --user`
  std::vector<Cluster> clusters;  // for -M, in the order of their names
  OwnCatalogues own;   // gpus_file and models_file, beside the settings file that names them
  GpuMetrics metrics;  // prometheus, gpu_use_query and gpu_memory_query

  DaemonAddress daemon() const {
    DaemonAddress address(socket);
    address.ca_file = ca_file;
    address.token_file = token_file;
    address.munge_socket = munge_socket;
    return address;
  }
};

// Each key from the strongest place that has it. Errors: a settings file that cannot be read, with
// its line.
Result<ClientSettings> FindSettings(const SettingsPlaces& places);

// The template's text.
Result<std::string> FindJobTemplate(const SettingsPlaces& places);

// The settings files that exist, strongest first.
std::vector<std::string> SettingsFiles(const SettingsPlaces& places);

}  // namespace gpuadvise::client
