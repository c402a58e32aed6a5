// sbatch options as the questions that the API understands.
//
// One place reads the values, so that a limit, a GPU request or a memory size means the same as a
// flag of `when`, of `advise`, in a #SBATCH line and after `--`. Errors name the option.
// Pure functions; the clock is an argument (--begin).
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

// The `constraints` of POST /v1/advise: only what the options say.
Result<nlohmann::json> AdviceConstraints(const SbatchOptions& options);

// "--gpus=l40s:12" without --nodes fixes a total that the API has no word for: the rows that have
// another total are left out by the client. nullopt when the options fix none.
Result<std::optional<int64_t>> TotalGpusAsked(const SbatchOptions& options);

// The options among `options` that a forecast does not see, as written ("--mem=64G").
std::vector<std::string> UnseenByForecast(const SbatchOptions& options);

// Adds what tells how long the job may run: its name, and --time-min. Errors: kBadInput.
Result<void> AddRunWords(const SbatchOptions& options, nlohmann::json& job);

}  // namespace gpuadvise::client
