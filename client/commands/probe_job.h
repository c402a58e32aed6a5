// The job in which `gpuadvise probe` measures: one GPU, at once where one is free, by srun.
#pragma once

#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/questions/training_question.h"
#include "client/run/watched_command.h"
#include "client/sbatch/sbatch_options.h"
#include "client/terminal/console.h"
#include "common/base/error.h"

namespace gpuadvise::client {

struct ProbeJob {
  SbatchOptions options;
  bool simulated = false;         // the cluster is: what is measured there is of this machine
  const GpuModel* gpu = nullptr;  // of `question`'s catalogue; nullptr: whatever Slurm gives
  std::string said;               // "one L40S in gpu_shared, free now"
};

// One GPU that the file allows and whose job of `minutes` starts first; of those that surely start
// at once (p90) the one with most memory. `fixed` wins over everything. Errors: no GPU can be had
// (kInfeasible), a flag that cannot be read.
Result<ProbeJob> ChooseProbeJob(const TrainingQuestion& question, const SbatchOptions& fixed,
                                double minutes, Api& api, int64_t now);

// Runs `words` as that job and waits for its end; its output is ours. Says why it waits, as far as
// `api` knows. Errors: there is no srun, the job failed, or it was interrupted, which removes it.
Result<void> RunProbeJob(const ProbeJob& job, const std::vector<std::string>& words, Api& api,
                         Console& console, const WatchedOptions& watched = {});

}  // namespace gpuadvise::client
