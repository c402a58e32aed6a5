// The daemon's answers as pure functions: request in, JSON out (docs/api.md has the shapes).
//
// The HTTP layer adds the common frame (meta, snapshot age, errors) and nothing else. Safe from any
// thread: everything comes in as an argument. Errors carry a JSON pointer into the request body.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/advise/advise.h"
#include "common/api/accuracy.h"
#include "common/base/error.h"
#include "common/forecast/start_of.h"
#include "common/runs/experiment.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::daemon {

// POST /v1/advise. `request` is the body; the answer lacks only `advice_id`.
Result<nlohmann::json> AnswerAdvise(const nlohmann::json& request, const AdviceContext& view,
                                    const Submitter& caller);

// POST /v1/when.
Result<nlohmann::json> AnswerWhen(const nlohmann::json& request, const AdviceContext& view,
                                  const Submitter& caller);

// GET /v1/gpus.
nlohmann::json AnswerGpus(const AdviceContext& view, const Submitter& caller);

// What a job of a user was advised as (the experiment log); nullopt: nothing is known.
using FindExperiment = std::function<std::optional<Experiment>(int64_t job_id, int64_t uid)>;

// GET /v1/jobs/{id}; `id` as squeue shows it ("65", "65_5", "61+1"). Errors: kBadInput for another
// text, kNotFound for a job that neither waits nor runs.
Result<nlohmann::json> AnswerJob(std::string_view id, const AdviceContext& view,
                                 const Submitter& caller, const FindExperiment& find = {});

// The body of POST /v1/advise as it was understood, with what the caller's runs have taught.
Result<AdviceRequest> AdviceRequestOf(const nlohmann::json& body, const AdviceContext& view,
                                      const Submitter& caller);

// Runs of the family of the body's spec: the caller's own and those that anybody may know of.
std::vector<MeasuredStep> RunsAlike(const nlohmann::json& body, const AdviceContext& view,
                                    const Submitter& caller);

// GET /v1/accuracy.
api::Accuracy AnswerAccuracy(const AdviceContext& view);

}  // namespace gpuadvise::daemon
