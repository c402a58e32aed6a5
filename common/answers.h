// The daemon's answers as pure functions: request in, JSON out (docs/api.md has the shapes).
//
// The HTTP layer adds the common frame (meta, snapshot age, errors) and nothing else. Safe from any
// thread: everything comes in as an argument. Errors carry a JSON pointer into the request body.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/error.h"
#include "common/for_each.h"
#include "common/gpu_naming.h"
#include "common/learned_runs.h"
#include "common/model_presets.h"
#include "common/snapshot.h"
#include "common/start_of.h"

namespace gpuadvise {

/// One consistent view of the cluster, for the length of one request.
struct ClusterView {
  const Snapshot& snapshot;
  const QueueModel& queue;      // PrepareQueue(snapshot, …)
  const QueueModel& at_limits;  // PrepareQueue(snapshot)
  const GpuNaming& gpus;
  const ModelPresets& models;            // config/models.yaml
  ForEach for_each = OneByOne;           // how forecasts that do not depend on each other are made
  const LearnedRuns* learned = nullptr;  // what runs have shown; nullptr: nothing
};

/// POST /v1/advise. `request` is the body. The answer lacks only `advice_id`.
Result<nlohmann::json> AnswerAdvise(const nlohmann::json& request, const ClusterView& view,
                                    const Submitter& caller);

/// POST /v1/when.
Result<nlohmann::json> AnswerWhen(const nlohmann::json& request, const ClusterView& view,
                                  const Submitter& caller);

/// GET /v1/gpus.
nlohmann::json AnswerGpus(const ClusterView& view, const Submitter& caller);

/// GET /v1/jobs/{id}. Errors: kNotFound for a job that neither waits nor runs.
Result<nlohmann::json> AnswerJob(int64_t id, const ClusterView& view, const Submitter& caller);

/// GET /v1/accuracy.
nlohmann::json AnswerAccuracy(const ClusterView& view);

/// The pending job that strategy `rank` of `advice` (an answer of AnswerAdvise) became under
/// `job_id`, to be counted until a snapshot shows it. Errors: kNotFound for an unknown rank.
Result<Job> SubmittedJob(const nlohmann::json& advice, int64_t rank, int64_t job_id,
                         const ClusterView& view, const Submitter& caller);

}  // namespace gpuadvise
