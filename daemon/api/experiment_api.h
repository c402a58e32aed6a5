// The experiment log's part of the API: what a submission, an outcome and a look at the log become.
//
// Bodies and answers as docs/api.md has them, without the frame. Safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/api/experiment.h"
#include "common/forecast/start_of.h"
#include "common/runs/experiment.h"
#include "daemon/state/advice_store.h"
#include "daemon/state/experiment_log.h"

namespace gpuadvise::daemon {

// Longer requests are not kept with a job.
inline constexpr size_t kMaxKeptRequestBytes = 16u << 10;

// Of strategy `index` of `given`, which became a job; `body` is the submission's. Whose job, its
// number and when it was submitted are not in it.
Experiment ExperimentOf(const AdviceStore::Given& given, size_t index, const nlohmann::json& body);

// POST /v1/outcomes: an outcome from `caller`. `snapshot`: null before the first one. Errors:
// kBadInput for the document, kNotFound for a job that is not the caller's.
Result<nlohmann::json> TakeOutcome(const nlohmann::json& body, const Submitter& caller,
                                   const Snapshot* snapshot, ExperimentLog& log,
                                   HistoryWriter& history);

// The same for an outcome that has been read.
Result<void> TakeOutcome(Outcome outcome, const Submitter& caller, const Snapshot* snapshot,
                         ExperimentLog& log, HistoryWriter& history);

// GET /v1/advice without its sweeps: the caller's own jobs; job=ID and limit=N in `target`. Errors:
// kBadInput for the query, kNotFound for a job that is not the caller's.
Result<api::Experiments> ExperimentRows(std::string_view target, const Submitter& caller,
                                        const Snapshot* snapshot, ExperimentLog& log);

}  // namespace gpuadvise::daemon
