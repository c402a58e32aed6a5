// The job script for a strategy, as shown and submitted by `submit`.
//
// Made from a template (config/job.sbatch, or a site's or user's own) with {sbatch}, {exports},
// {setup} and {launch}. On one node it runs the command as written; on several it runs one launcher
// per node through srun, with a rendezvous address. Nothing in the training file can become an
// #SBATCH line. Pure functions, any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/sbatch/job_words.h"
#include "client/sbatch/sbatch_options.h"
#include "common/api/advice.h"
#include "common/base/error.h"

namespace gpuadvise::client {

struct JobScript {
  SbatchOptions options;  // all options of sbatch, including the user's
  std::string text;
};

// The advice that a script comes from.
struct AdviceOrigin {
  std::string id;
  std::string outcomes_dir;  // the site's folder for outcomes without a socket; "": none
  std::string array = {};    // all tasks of a sweep of which the job has a part; "": it has all
  std::string sweep_folder = {};  // in which a run notes that it has begun and ended; "": none
};

// `strategy`: one of the advice; `spec`: the training file's JSON, validated by the daemon. `fixed`
// overrides the strategy's options; options that contradict a fixed one are left out. Errors:
// kBadInput with a pointer into the spec: no command, an invalid name in env.
Result<JobScript> MakeJobScript(std::string_view job_template, const nlohmann::json& spec,
                                const api::Strategy& strategy, const AdviceOrigin& advice,
                                const SbatchOptions& fixed);

// A bash script to try the command here: `spec`'s environment, setup and command with the figures
// of `strategy`, as in its job, but with a temporary output folder. Errors: as above.
Result<std::string> MakeTrialScript(const nlohmann::json& spec, const api::Strategy& strategy);

// The options of `spec`'s slurm.extra, which win over the advice, with `figures` in them; also a
// plugin's (Pyxis's --container-image=…). Errors: kBadInput at /slurm/extra for what is no option.
Result<SbatchOptions> ExtraOptions(const nlohmann::json& spec, const Placeholders& figures);

// All tasks of the job's array, as --array: of `fixed`, of slurm.extra or of slurm.array; "": none.
std::string ArrayAsked(const nlohmann::json& spec, const SbatchOptions& fixed);

// What of the training needs its runs to be one array of Slurm: "SLURM_ARRAY_JOB_ID"; "": nothing.
std::string NeedsOneArray(const nlohmann::json& spec, const SbatchOptions& fixed);

// sbatch's options for `strategy` without those that contradict `fixed`.
SbatchOptions StrategyOptions(const nlohmann::json& spec, const api::Strategy& strategy,
                              const SbatchOptions& fixed);

}  // namespace gpuadvise::client
