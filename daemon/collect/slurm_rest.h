// Slurm through slurmrestd, for hosts with neither its library nor its commands, such as a
// container, a cloud machine, or one whose libslurm is of another release.
//
// Reads data_parser v0.0.40 to v0.0.45 (Slurm 23.11 to 26.05), each table in the newest offered
// version that has it. Jobs are read in v0.0.44 at most: v0.0.45 does not say which jobs want whole
// nodes. Unknown newer versions are read only if nothing else is offered.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "daemon/collect/rest_json.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct SlurmRestOptions {
  std::string url;         // unix:/PATH, http://HOST:PORT, https://HOST:PORT
  std::string token_file;  // with a JWT, read before each request; "": none
  std::string user;        // owner of the token, if not in the token; "": none
  std::string ca_file;     // for https; "": the system's certificates
  std::string slurm_conf;  // for fields that slurmrestd lacks; "": left unset
  std::chrono::milliseconds policy_interval{300'000};  // between polls of the slow-changing tables
  std::chrono::milliseconds deadline{20'000};          // per request
};

// Errors: kBadInput for an invalid address.
SourceResult MakeSlurmRestSource(const SlurmRestOptions& options);

// ---- API version of each table ----------------------------------------------------------------

// Path with the chosen version, by table ("jobs", "conf", "associations").
struct RestPaths {
  std::map<std::string, std::string> path_of;
  std::vector<std::string> notes;  // what these versions lack
};

// Chooses from the server's OpenAPI description. Errors: kUnavailable with the offered versions if
// none is readable.
Result<RestPaths> ChooseRestPaths(const RestJson& description);

// The token in the text of a file: one word, optionally after "SLURM_JWT=", as printed by `scontrol
// token`; "": none.
std::string RestTokenIn(std::string_view text);

}  // namespace gpuadvise::collect
