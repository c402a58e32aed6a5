// Requests advice for a train.yaml and flags, and translates errors to the file's line or the flag.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/sbatch/sbatch_options.h"
#include "common/base/error.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::client {

struct AdviceQuestion {
  std::string file;
  std::string section;    // "": the whole file, or its only section
  std::string objective;  // "": the file's, else finish
  std::string deadline;   // as written; "": none
  SbatchOptions fixed;    // set by the user: flags and, for submit, options after `--`
  std::string gpus;       // kinds, "l40s,rtx4090"; "": the file's
  bool others = false;    // say of every row what it costs others
  std::string prices;     // of a GPU-hour, "l40s=1.20,rtx4090=0.45"; "": the file's, the site's
};

// The options that may move the job's start and that no advice counts, as written: of `question`
// and of the slurm.extra of `spec`, a train.yaml's JSON.
std::vector<std::string> UncountedOptions(const nlohmann::json& spec,
                                          const AdviceQuestion& question);

// What of `spec`, a train.yaml's JSON, may leave GPU types out and no flag replaces:
// "slurm.constraint: ib", "resources.gpus". Of a nodelist the daemon says it.
std::vector<std::string> NarrowedBy(const nlohmann::json& spec, const AdviceQuestion& question);

// The body of POST /v1/advise. What the file's slurm.extra fixes counts like a flag. Errors: an
// invalid option.
Result<nlohmann::json> AdviceRequest(const TrainFile& file, const AdviceQuestion& question,
                                     int64_t now);

// The daemon's answer. Errors: complete sentences with file, line or flag.
Result<nlohmann::json> AskForAdvice(Api& api, const TrainFile& file, const AdviceQuestion& question,
                                    int64_t now);

// An API error about such a request, with the file's line or the flag.
std::string ExplainAdviceError(const Error& error, const TrainFile& file);

}  // namespace gpuadvise::client
