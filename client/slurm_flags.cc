#include "client/slurm_flags.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace gpuadvise {

void SlurmFlags::AddTo(CLI::App* app) {
  Add(app, "-p,--partition", "partition", "Partition to stay in");
  Add(app, "-A,--account", "account", "Account to charge");
  Add(app, "-q,--qos", "qos", "Quality of service");
  Add(app, "-t,--time", "time", "Time limit: minutes, HH:MM:SS, D-HH:MM:SS");
  Add(app, "-N,--nodes", "nodes", "Number of nodes");
  Add(app, "-C,--constraint", "constraint", "Features that the nodes must have");
  Add(app, "--gres", "gres", "GPUs per node, like gpu:l40s:6");
  Add(app, "-G,--gpus", "gpus", "GPUs in all, like l40s:12");
  Add(app, "--gpus-per-node", "gpus-per-node", "GPUs per node, like l40s:6");
  Add(app, "-w,--nodelist", "nodelist", "Only these nodes (delays the start; better --exclude)");
  Add(app, "-x,--exclude", "exclude", "Never these nodes");
}

SbatchOptions SlurmFlags::Given() const {
  SbatchOptions options;
  for (const Flag& flag : flags_) {
    if (flag.option->count() > 0) options.Set(flag.name, flag.value);
  }
  return options;
}

void SlurmFlags::Add(CLI::App* app, const char* spelling, const char* name, const char* help) {
  Flag& flag = flags_.emplace_back();  // a deque: the addresses stay
  flag.name = name;
  flag.option = app->add_option(spelling, flag.value, help)->group("What you fix (as in sbatch)");
  flag.option->option_text("X");
}

}  // namespace gpuadvise
