// POST /v1/fit and POST /v1/scale: what the client computes by itself, on the cluster's own GPUs,
// for callers that have no such program (the dashboard). Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/answers/answers.h"

namespace gpuadvise::daemon {

// `request`: {spec, gpus_in_all?}. What of the spec fits on each GPU type of the cluster, as
// AnswerFit. Errors: kBadInput with a pointer into the request.
Result<nlohmann::json> AnswerFitHere(const nlohmann::json& request, const AdviceContext& view,
                                     const Submitter& caller);

// `request`: {spec, objective?, most_gpus?}. A curve for each GPU type of the cluster, as
// AnswerScale.
Result<nlohmann::json> AnswerScaleHere(const nlohmann::json& request, const AdviceContext& view,
                                       const Submitter& caller);

// `request`: {spec}. What past runs of this training have shown, for a client that counts by
// itself.
Result<nlohmann::json> AnswerMeasured(const nlohmann::json& request, const AdviceContext& view,
                                      const Submitter& caller);

}  // namespace gpuadvise::daemon
