// POST /v1/select: which GPUs in which partition a plain job should ask for, so that it starts
// first.
//
// Problem: a person who writes `sbatch --gres=gpu:4 job.sh` gets the default partition and whatever
// is there. Idea: every pool that the caller may use is asked for its wait, what the job fixes is
// kept, and the answer is the options to add: those of the pool with the least median wait,
// together with those that tie with it where one Slurm job can say so (one_job.h). Why not simply
// name all partitions: Slurm rejects a job for one partition that it may not use, and a partition
// can come with a shorter limit, less memory or preemption that nobody asked for.
//
// What is never chosen for a job that did not name it: hidden partitions, those of other groups,
// those whose default limit or memory is less than the job would have had, and MIG slices for more
// than one GPU. Jobs that may be preempted come last. Pure.
#pragma once

#include "daemon/answers/answers.h"

namespace gpuadvise::daemon {

// Two waits tie when their medians are this close, in seconds or as a share of the shorter one.
inline constexpr double kTieSeconds = 600;
inline constexpr double kTieShare = 0.1;

// `request`: {"job": one job as in /v1/when, "min_gpu_memory_bytes", "groups",
// "avoid_partitions"}; the answer is in
// docs/api.md. Its `job` is empty, with a `reason`, where there is nothing to choose or nothing
// fits. Errors: kBadInput with a pointer.
Result<nlohmann::json> AnswerSelect(const nlohmann::json& request, const AdviceContext& view,
                                    const Submitter& caller);

}  // namespace gpuadvise::daemon
