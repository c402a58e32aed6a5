// The clusters that client.yaml names, and which of them a command asks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/api/daemon_address.h"
#include "common/base/error.h"

namespace gpuadvise::client {

struct Cluster {
  std::string name;  // Slurm's
  DaemonAddress daemon;
  // Runs sbatch of that cluster, as words: {"ssh", "login.b", "sbatch"}; empty: `sbatch -M NAME`.
  std::vector<std::string> submit_command = {};
};

// One entry of `clusters:`: where its daemon is (ReadDaemonList), or a mapping with that as
// `daemon`, and `ca`, `token_file`, `munge_socket` and `submit_command`. What it leaves out of
// https is as in `usual`. Errors: kBadInput: a sentence.
Result<Cluster> ReadCluster(const std::string& name, const nlohmann::json& value,
                            const DaemonAddress& usual);

// Those of `names` ("a,b", or "all"), in that order. Errors: kBadInput naming the one that is not
// known, and the nearest.
Result<std::vector<Cluster>> ChooseClusters(const std::vector<Cluster>& known,
                                            const std::string& names);

}  // namespace gpuadvise::client
