// What the answers about single jobs and about the queue share: one job as a row, and what of it
// the caller may see.
#pragma once

#include <string>
#include <vector>

#include "common/advise/advice_context.h"
#include "common/advise/remedies.h"
#include "common/api/queue.h"
#include "common/forecast/job_ends.h"
#include "common/forecast/limit_advice.h"
#include "common/gpu/gpu_labels.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {

// Whether `caller` may see whose job this is: not those of others where PrivateData has jobs, and
// none for who asks anonymously.
bool MaySee(const Snapshot& snapshot, const Job& job, const Submitter& caller);

// The same of a job of `uid`.
bool MaySeeJobsOf(int64_t uid, const Snapshot& snapshot, const Submitter& caller);

// What is looked up for each job of one answer.
struct JobLookups {
  GpuLabels& gpus;
  const Visibility& seen;
  const JobEnds& ends;
};

// The job with its forecast. `start` null: none is known.
api::QueueJob QueueRow(const Job& job, const StartSamples* start, const AdviceContext& context,
                       const Submitter& caller, const JobLookups& lookups);

api::StartFigures StartFiguresOf(const StartSamples& start, UnixSeconds now);

// The curve of wait and risk, and the advice, as yet without the command that changes a job to it.
std::vector<api::LimitChoice> LimitChoicesOf(const LimitAdvice& advice, UnixSeconds now);
api::LimitAdvice LimitAdviceOf(const LimitAdvice& advice);

// What would start it earlier.
std::vector<api::EarlierStart> EarlierStartsOf(const std::vector<Remedy>& remedies,
                                               UnixSeconds now);

}  // namespace gpuadvise::daemon
