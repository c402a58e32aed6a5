// What the answers about single jobs and about the queue share: one job as JSON, and what of it the
// caller may see.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/advise/remedies.h"
#include "common/forecast/job_ends.h"
#include "common/forecast/limit_advice.h"
#include "common/gpu/gpu_labels.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {

// Whether `caller` may see whose job this is: not those of others where PrivateData has jobs, and
// none for who asks anonymously.
bool MaySee(const Snapshot& snapshot, const Job& job, const Submitter& caller);

// What is looked up for each job of one answer.
struct JobLookups {
  GpuLabels& gpus;
  const Visibility& seen;
  const JobEnds& ends;
};

// The job with its forecast. `start` null: none is known.
nlohmann::json JobJson(const Job& job, const StartSamples* start, const AdviceContext& context,
                       const Submitter& caller, const JobLookups& lookups);

// p10, p50, p90 and mean of the wait, and the times they lead to.
void AddStart(const StartSamples& start, UnixSeconds now, nlohmann::json& into);

// A warning where time was left for some remedies only.
inline constexpr const char* kNotAllRemedies =
    "not all ways to start sooner were tried: the question is large";

// Puts `limits`, the curve of wait and risk, and `limit_advice` into an answer. `command`: what
// changes the job to the advised limit; null: there is no job yet.
using ChangeCommand = std::function<std::string(const LimitPoint& best)>;
void AddLimits(const LimitAdvice& advice, UnixSeconds now, const ChangeCommand& command,
               nlohmann::json& into);

// What would start it earlier, as JSON.
nlohmann::json RemediesJson(const std::vector<Remedy>& remedies, UnixSeconds now);

}  // namespace gpuadvise::daemon
