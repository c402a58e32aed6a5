// Slurm through slurmrestd: for hosts that have neither its library nor its commands, such as a
// container, a machine in a cloud, or one whose libslurm is of another release.
//
// Reads data_parser v0.0.40 to v0.0.45 (Slurm 23.11 to 26.05); each table in the newest of them
// that is offered and tells it. Jobs are read in v0.0.44 at most: v0.0.45 leaves out which of them
// want whole nodes. A newer one that is not known is read only where nothing else is offered.
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
  std::string token_file;  // a JWT, read before every question; "": none
  std::string user;        // whose token it is, where it does not say; "": none
  std::string ca_file;     // of https; "": the system's certificates
  std::string slurm_conf;  // what slurmrestd does not tell is read from it; "": not told then
  std::chrono::milliseconds policy_interval{300'000};  // between polls of the slow-changing tables
  std::chrono::milliseconds deadline{20'000};          // for each question
};

// Errors: kBadInput for an address that is none.
SourceResult MakeSlurmRestSource(const SlurmRestOptions& options);

// ---- which version of the API each table is asked in ------------------------------------------

// By table ("jobs", "conf", "associations"): the path with the version that was chosen.
struct RestPaths {
  std::map<std::string, std::string> path_of;
  std::vector<std::string> notes;  // what these versions do not tell
};

// From the OpenAPI description that the server gives of itself.
// Errors: kUnavailable with the versions that it offers where none can be read.
Result<RestPaths> ChooseRestPaths(const RestJson& description);

// The token of a file's text: one word, with or without "SLURM_JWT=" before it, as `scontrol token`
// prints it; "" where there is none.
std::string RestTokenIn(std::string_view text);

}  // namespace gpuadvise::collect
