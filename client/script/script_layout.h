// The GPUs, nodes and processes on which a job script runs its training. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/sbatch/sbatch_options.h"
#include "client/script/launch_command.h"
#include "client/script/training_flags.h"

namespace gpuadvise::client {

struct ScriptLayout {
  std::vector<std::string> types;  // GPU types in the #SBATCH lines
  int64_t tasks_per_node = 1;
  int64_t asked_per_node = 0;  // GPUs requested there; 0: not given
  int64_t gpus_per_node = 0;   // used by the command; 0: unknown
  int64_t nodes = 1;
  bool nodes_are_assumed = false;  // by the number of tasks, as #SBATCH gives none
  bool one_process = false;        // the launcher starts one by default
  bool task_per_gpu = false;       // srun starts a task for each GPU

  int64_t gpus() const { return gpus_per_node * nodes; }
};

ScriptLayout LayoutOf(const SbatchOptions& options, const LaunchCommand& launch,
                      const TrainingFlags& flags);

}  // namespace gpuadvise::client
