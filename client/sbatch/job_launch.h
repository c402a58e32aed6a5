// The part of a job script that starts the training: under `gpuadvise run` if the node has it, on
// one node or through srun on several, in a container, and again after a time limit. Pure
// functions, any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/sbatch/job_words.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// The lines for `spec`'s command with `words` filled in. `takes_signals`: Slurm sends the job's
// shell a signal before the time limit, which reaches the command. Errors: kBadInput with a pointer
// into the spec: no command, or only one of {resume} and its words.
Result<std::string> LaunchLines(const nlohmann::json& spec, const api::Strategy& strategy,
                                const Placeholders& words, bool takes_signals = false);

// Where the nodes of a job meet, for {master_addr} and {master_port}: lines that stand before the
// job's own variables and setup, which may say it otherwise. "": one node.
std::string Rendezvous(const api::Strategy& strategy);

// Only `spec`'s command with `words` filled in, in its container if it has one. Errors: kBadInput:
// no command, an array of the setup that it cannot have.
Result<std::string> CommandText(const nlohmann::json& spec, const Placeholders& words);

// Whether a job of several nodes starts the command on each of them, as `run_on` says.
bool RunsOnEachNode(const nlohmann::json& spec);

// The value of training.retry_on_oom.
bool RetriesOnOom(const nlohmann::json& spec);

// training.resume: whether the job continues after its time limit, and the words for {resume} then
// ("": the command finds its checkpoint by itself).
bool Resumes(const nlohmann::json& spec);
std::string ResumeWords(const nlohmann::json& spec);

}  // namespace gpuadvise::client
