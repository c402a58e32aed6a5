// Turns a request into a queue job: its partitions, requirements and rank. Pure; safe from any
// thread.
#pragma once

#include "common/scheduler/queue_model.h"
#include "common/slurm/job_record.h"

namespace gpuadvise {

// Errors: as StartOf.
Result<PendingJob> MakePendingJob(const QueueModel& queue, const JobRequest& request,
                                  const Submitter& submitter);

// The error for a job whose nodes, GPUs or limits never become free.
tl::unexpected<Error> NeverFreeError(const QueueModel& queue, const PendingJob& job);

// The job's record as accounting would store it.
JobRecord RecordFor(const QueueModel& queue, const JobRequest& request, const Submitter& submitter);

// Whether another job may preempt it.
bool MayLose(const QueueModel& queue, const PendingJob& job);

}  // namespace gpuadvise
