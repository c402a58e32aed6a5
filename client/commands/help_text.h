// What --help prints: what a command does, its usage, its options by group, subcommands and footer,
// in columns. CLI11's own differs from release to release (headings, spaces, where it breaks the
// footer); this is the same with each, so that help and documents agree wherever gpuadvise is
// built.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace gpuadvise::client {

// For CLI::App::formatter(), before subcommands are added: they take it over.
std::shared_ptr<CLI::FormatterBase> HelpFormatter();

// What stands below the options of each command.

inline constexpr const char* kWhenFooter =
    "\ngpuadvise when [OPTIONS] [SBATCH OPTIONS] [job.sh]\n"
    "Asks when a job with these sbatch options would start. Understood: -p -A -q -t -N -n -c -C\n"
    "-G --gres --gpus-per-node --gpus-per-task --mem --mem-per-cpu --mem-per-gpu -w/--nodelist\n"
    "-x/--exclude --exclusive -b/--begin --reservation -a/--array (the first and the last task).\n"
    "Other options are skipped (-v lists them).\n"
    "With a job script its #SBATCH lines are read first; options here win.\n"
    "With --limits: no limit below --time-min is advised; -J tells which of your runs are alike.\n"
    "\nExample: gpuadvise when -p gpu --gres gpu:l40s:6 -t 600 --limits\n";

inline constexpr const char* kSubmitFooter =
    "\nWhat follows -- goes to sbatch untouched and wins over the advice:\n"
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
    "\nThe exit status is the command's own. Example:\n"
    "  gpuadvise run --micro-batch 8 --accumulation 4 --retry-on-oom -- \\\n"
    "    torchrun train.py --batch-size {micro_batch} --accumulation {accumulation}\n";

inline constexpr const char* kProbeFooter =
    "\nRuns the command of FILE for some 20 steps at two micro-batches, on one GPU: in a short job "
    "(srun),\n"
    "or with --local here. Then writes the memory: line and a measured: line into FILE, and shows "
    "the\n"
    "ranking before and after. The old file is kept as FILE.bak. Where the command has "
    "{max_steps}, it\n"
    "gets the number of steps; otherwise it is ended (SIGTERM) after them.\n";

inline constexpr const char* kJobsFooter =
    "\nOutcomes that lie in the output folders of your own jobs are reported first.\n"
    "--import exits 1 when a file was not taken.\n";

inline constexpr const char* kLimitsFooter =
    "\nIn hindsight, from jobs that have ended. What a shorter limit is worth to the next job, and "
    "its\n"
    "risk: gpuadvise when --limits.\n";

inline constexpr const char* kWatchFooter =
    "\nExits 0 when the job ended well, 1 when it did not; with --once 0 while it waits or runs.\n";

inline constexpr const char* kExitCodes =
    "\nExit codes: 0 ok, 1 error, 2 wrong flag or file, 3 nothing can run it, 4 gpuadvised does "
    "not\n"
    "answer, 5 answered from data older than --max-age.\n";

}  // namespace gpuadvise::client
