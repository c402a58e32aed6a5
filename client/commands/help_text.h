// What --help prints: what a command does, its usage, its options by group, subcommands and footer,
// in columns. CLI11's own differs from release to release (headings, spaces, where it breaks the
// footer); this is the same with each, so that help and documents agree wherever gpuadvise is
// built.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace gpuadvise::client {

// For CLI::App::formatter(), before subcommands are added: they take it over.
std::shared_ptr<CLI::FormatterBase> HelpFormatter();

// The heading that an option stands under: "Options" where it has none of its own.
std::string GroupOf(const CLI::Option& option);

// What stands below the options of each command.

inline constexpr const char* kWhenFooter =
    "\n"
    "gpuadvise when [OPTIONS] [SBATCH OPTIONS] [job.sh]\n"
    "Forecasts when a job with these sbatch options would start. Supported: -p -A -q -t -N -n -c "
    "-C\n"
    "-G --gres --gpus-per-node --gpus-per-task --mem --mem-per-cpu --mem-per-gpu -w/--nodelist\n"
    "-x/--exclude --exclusive -b/--begin --reservation -a/--array (the first and the last task).\n"
    "Other options are skipped (-v lists them).\n"
    "#SBATCH lines of a job script are read first; options here override them.\n"
    "With --limits: never below --time-min; -J selects similar past runs.\n"
    "\n"
    "Example: gpuadvise when -p gpu --gres gpu:l40s:6 -t 600 --limits\n";

inline constexpr const char* kSubmitFooter =
    "\n"
    "Arguments after -- go to sbatch unchanged and override the advice:\n"
    "  gpuadvise submit train.yaml -- --mail-type=END --time=12:00:00\n";

inline constexpr const char* kFitFooter =
    "\nExamples:\n"
    "  gpuadvise fit train.yaml --gpu l40s\n"
    "  gpuadvise fit llama-3.1-8b --method lora --seq 2048 --gpu l40s\n"
    "  gpuadvise fit --trace -- python train.py --batch-size {micro_batch}\n";

inline constexpr const char* kScaleFooter =
    "\nExamples:\n"
    "  gpuadvise scale train.yaml --gpu h100 --max-gpus 16\n"
    "  gpuadvise scale llama-3.1-8b --method lora --seq 2048 --effective 64 --max-steps 1000\n";

inline constexpr const char* kRunFooter =
    "\n"
    "The exit status is that of the command. Example:\n"
    "  gpuadvise run --micro-batch 8 --accumulation 4 --retry-on-oom -- \\\n"
    "    torchrun train.py --batch-size {micro_batch} --accumulation {accumulation}\n";

inline constexpr const char* kProbeFooter =
    "\n"
    "Runs the command of FILE for about 20 steps at two micro-batches, on one GPU: in a short job "
    "(srun),\n"
    "or on this machine with --local. Then writes a memory: line and a measured: line into FILE "
    "and shows\n"
    "the ranking before and after. The old file is kept as FILE.bak. {max_steps} in the command "
    "is\n"
    "replaced with the number of steps; without it the command is stopped (SIGTERM) after them.\n";

inline constexpr const char* kQueueFooter =
    "\nColumns of -O: Account, ArrayJobID, GPUs, GRES, JobID, Name, NumNodes, Partition,\n"
    "PendingTime, PriorityLong, QOS, Reason, StartTime, State, SubmitTime, TimeLimit, UserName,\n"
    "and of the forecast: Starts, StartsIn, Ends.\n";

inline constexpr const char* kEffFooter =
    "\nFrom Slurm's accounting (sacct): CPU time over CPUs × elapsed time; the highest memory of "
    "a\n"
    "step over what was requested; GPU use where the site gathers it, or `gpuadvise run` sampled "
    "it.\n";

inline constexpr const char* kJobsFooter =
    "\n"
    "Outcomes in the output folders of your jobs are imported first.\n"
    "--import exits with 1 if a file was not imported.\n";

inline constexpr const char* kLimitsFooter =
    "\n"
    "Covers finished jobs. For the next job, see gpuadvise when --limits.\n";

inline constexpr const char* kWatchFooter =
    "\nExits with 0 if the job succeeded, 1 if it failed; with --once 0 while it waits or runs.\n";

inline constexpr const char* kExitCodes =
    "\n"
    "Exit codes: 0 ok, 1 error, 2 invalid option or file, 3 no strategy can run the job, 4 "
    "gpuadvised\n"
    "does not answer, 5 data older than --max-age.\n";

}  // namespace gpuadvise::client
