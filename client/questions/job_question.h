// Converts sbatch options to requests of the API.
//
// All values are read here, so that a limit, GPU request or memory size has one meaning in flags of
// `when` and `advise`, in #SBATCH lines and after `--`. Errors name the option. Pure functions; the
// clock is an argument (for --begin).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/sbatch/sbatch_options.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// One job of POST /v1/when.
Result<nlohmann::json> JobQuestion(const SbatchOptions& options, int64_t now);

// The `constraints` of POST /v1/advise: only options that are given.
Result<nlohmann::json> AdviceConstraints(const SbatchOptions& options);

// The options that may move a job's start and that JobQuestion, or AdviceConstraints, does not
// read, as written ("--mem=64G").
std::vector<std::string> UnseenByJobQuestion(const SbatchOptions& options);
std::vector<std::string> UnseenByAdvice(const SbatchOptions& options);

// Adds members that help to predict the run time: job name and --time-min. Errors: kBadInput.
Result<void> AddRunWords(const SbatchOptions& options, nlohmann::json& job);

// Adds --gpu-memory to a question of POST /v1/select; "" adds nothing. Errors: kBadInput.
Result<void> AddLeastGpuMemory(const std::string& size, nlohmann::json& question);

}  // namespace gpuadvise::client
