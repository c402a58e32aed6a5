// What each command of `gpuadvise` does, once its command line is read.
//
// A command prints to the console, asks the API and returns the exit code. Nothing here reads the
// environment or the clock; main.cc builds the console and the API.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/preflight/preflight.h"
#include "client/questions/advice_question.h"
#include "client/questions/training_question.h"
#include "client/records/gpu_metrics.h"
#include "client/records/slurm_query.h"
#include "client/sbatch/job_runner.h"
#include "client/sbatch/sbatch_options.h"
#include "client/script/train_yaml_from_script.h"
#include "client/terminal/console.h"
#include "client/views/jobs_table.h"

namespace gpuadvise::client {

// A job script that stands for the training file (--from), and what is said beside it.
struct FromScript {
  std::string script;  // "" none
  ScriptHints hints;
};

struct AdviseCommand {
  AdviceQuestion question;
  FromScript from;
  std::optional<double> max_age_seconds;
  bool all = false;
  bool json = false;
};

struct SubmitCommand {
  AdviceQuestion question;  // `fixed` holds the flags and what follows `--`
  FromScript from;
  std::optional<double> max_age_seconds;
  std::vector<std::string> passed_on;  // what follows `--`, as written
  int64_t pick = 0;                    // 0: the first
  std::string same_as;                 // file of the script that was agreed to; "-"; "" none
  bool yes = false;
  bool dry_run = false;
  bool force = false;  // also where a check failed
  bool json = false;
};

struct DoctorCommand {
  AdviceQuestion question;  // without a file: only what an answer needs
  bool site = false;        // what the forecast makes of the site's slurm.conf instead
  bool json = false;
};

// What a submission is made with: the site's sbatch, this machine, and the job template's text.
struct JobSubmission {
  JobRunner& runner;
  Site& site;
  std::string job_template;
};

struct WhenCommand {
  std::vector<std::string> arguments;  // sbatch's options and perhaps a job script
  bool limits = false;                 // with what a shorter time limit is worth
  bool json = false;
  bool verbose = false;
};

// `gpuadvise select`, which sbatch's plugin asks (plugins/cli_filter.lua).
struct SelectCommand {
  std::vector<std::string> arguments;  // sbatch's options
  std::vector<std::string> groups;     // of the caller
  std::string gpu_memory;              // the least of a GPU; "" any
  std::vector<std::string> avoid;      // partitions
  std::string advice, submitted;       // report instead: that advice became this job
  double timeout_seconds = 1;          // for the whole question
  double max_age_seconds = 300;        // of what the answer rests on
  bool json = false;
};

struct InitCommand {
  std::string file = "train.yaml";
  FromScript from;  // without a script an example for this cluster
};

struct QueueCommand {
  std::string user;  // "a,b"; "": everybody
  bool me = false;
  std::string own_user;  // who asks
  std::string jobs;      // "4711,4712"
  std::string partition;
  std::string state;   // "pending", "PD,R"; "": pending and running
  bool start = false;  // --start: pending ones, with Slurm's estimate
  bool is_long = false;
  std::string format;  // of -O: "jobid,name"
  bool json = false;
};

// `gpuadvise logs`: a job's output.
struct LogsCommand {
  std::string job_id;
  bool follow = false;
  std::optional<int64_t> lines;  // the last ones
  bool path_only = false;
};

// `gpuadvise eff`: what finished jobs used of what they asked for.
struct EffCommand {
  std::string job_id;  // "": several
  std::string user;    // "" or "me": the caller
  std::string since;   // as written
  std::string own_user;
  GpuMetrics metrics;  // the site's Prometheus
  bool json = false;
};

// `gpuadvise fit --trace`: memory from a run of the script without values (client/trace).
struct TraceWishes {
  std::vector<std::string> command;  // what follows --; empty: the file's command
  std::string python;                // runs the script; "" the command's own
  double minutes = 5;                // of one run
  int64_t memory_gib = 16;           // of this machine
};

struct FitCommand {
  TrainingSource source;
  std::optional<TraceWishes> trace;
  int64_t gpus_in_all = 1;             // of one job
  std::optional<int64_t> micro_batch;  // show this one
  bool tips = false;                   // all of them, for the first GPU
  bool json = false;
};

struct ScaleCommand {
  TrainingSource source;
  std::optional<int64_t> most_gpus;      // nullopt: 8, or a whole node where that is more
  std::optional<int64_t> gpus_per_node;  // nullopt: the cluster's, else 8
  double network_gbit_per_s = 0;         // 0: the cluster's, else not known
  std::string objective;                 // "": the file's
  std::string deadline;                  // "": the file's
  std::optional<double> price;           // of a GPU-hour
  bool json = false;
};

// `gpuadvise models`, `cards` and `reference`: what is known.
struct ListCommand {
  std::string word = {};  // only what has this in it; "" all
  bool json = false;
  bool markdown = false;   // of `reference`: the page of docs/
  OwnCatalogues own = {};  // of `models` and `cards`
};

// `gpuadvise run`; what the command line leaves open comes from the environment that `submit` sets
// (client/commands/run_command.cc).
struct RunCommand {
  std::vector<std::string> command;  // what follows --
  std::string pattern;
  std::optional<int64_t> micro_batch, accumulation;
  std::string fit, section;  // a training file that says the batch; "" none
  bool retry_on_oom = false;
  std::string output;  // folder of the outcome; "": GPUADVISE_OUTPUT, else the current one
  double hang_minutes = 10;
  bool quiet = false;  // no progress line
};

// `gpuadvise probe`.
struct ProbeCommand {
  std::string file, section;
  std::vector<std::string> gpus;       // only one of these; empty: any that the file allows
  std::vector<int64_t> micro_batches;  // empty: chosen
  int64_t steps = 20;
  double minutes = 10;  // for all runs
  std::string pattern;
  std::string outcome;   // only measure here, and leave the outcome in this folder
  SbatchOptions fixed;   // of its job
  bool local = false;    // on a GPU of this machine
  bool dry_run = false;  // the file stays as it is
};

struct JobsCommand {
  std::string job_id;  // everything about this one; "" the log
  JobsFilter filter;
  std::string since;  // as written; read into `filter` when the command runs
  bool import = false;
  std::vector<std::string> import_paths;  // empty: the output folders of the caller's own jobs
  bool json = false;
  bool csv = false;
};

// `gpuadvise limits`: what shorter time limits would have been worth.
struct LimitsCommand {
  std::string user;   // "" or "me": the caller
  std::string since;  // as written; "": the daemon's 30 days
  bool json = false;
};

struct WatchCommand {
  std::string job_id;
  int64_t interval_seconds = 30;
  bool once = false;
  bool json = false;
  bool notify = false;
};

// What `watch` needs of the process.
struct WatchPlace {
  std::string user;                            // the caller's name; "" not known
  bool rewrites = false;                       // standard output is a terminal: one line, rewritten
  std::function<void(int64_t seconds)> pause;  // returns after that time
  // Sends a message about the job; what went wrong, a sentence each. Not set: nobody is told.
  std::function<std::vector<std::string>(const std::string& event, const std::string& text)> tell =
      nullptr;
};

int RunAdvise(const AdviseCommand& command, Api& api, Console& console);
int RunSubmit(const SubmitCommand& command, Api& api, const JobSubmission& submission,
              Console& console);
int RunWhen(const WhenCommand& command, Api& api, Console& console);
int RunSelect(const SelectCommand& command, Api& api, Console& console);
int RunFit(const FitCommand& command, Api& api, Console& console);
int RunScale(const ScaleCommand& command, Api& api, Console& console);
int RunModels(const ListCommand& command, Console& console);
int RunCards(const ListCommand& command, Api& api, Console& console);
int RunReference(const ListCommand& command, Console& console);
// The exit status is the command's own; a signal that ended it ends this process too.
int RunRun(const RunCommand& command, Api& api, Console& console);
// `own_path`: this program, which the job runs.
int RunProbe(const ProbeCommand& command, const std::string& own_path, Api& api, Console& console);
int RunGpus(bool json, Api& api, Console& console);
int RunQueue(const QueueCommand& command, Api& api, Console& console);

// `sleep` waits for so many seconds while the log is followed.
int RunLogs(const LogsCommand& command, SlurmQuery& slurm, const std::function<void(double)>& sleep,
            Console& console);

class TopScreen;

// Shows queue, GPUs and a log until the user quits or a signal comes.
int RunTop(const std::string& own_user, TopScreen& screen, SlurmQuery& slurm, Api& api,
           Console& console);

// GPU use that `gpuadvise run` sampled comes from `api`, where that answers.
int RunEff(const EffCommand& command, SlurmQuery& slurm, Api& api, Console& console);
int RunWhy(const std::string& job_id, bool json, Api& api, Console& console);
int RunAccuracy(bool json, Api& api, Console& console);
int RunLimits(const LimitsCommand& command, Api& api, Console& console);
int RunJobs(const JobsCommand& command, Api& api, Console& console);
// Until the job has ended: kExitOk when it ended well, else kExitError. --once: kExitOk while it
// waits or runs.
int RunWatchJob(const WatchCommand& command, const WatchPlace& place, Api& api, Console& console);
// The Model Context Protocol on standard input and output; `own_path`: this program, which its
// tools run. `socket`: "" as always.
int RunMcp(const std::string& own_path, const std::string& socket);
int RunInit(const InitCommand& command, Api& api, Console& console);

// The training file of a question: the file it names, or `from`'s script as one; of a script the
// points that are not clear are said. Errors: sentences that name the file and its line.
Result<TrainFile> LoadTraining(const AdviceQuestion& question, const FromScript& from,
                               Console& console);

// Says the error, with --json also as a document on standard output, and gives its exit code.
int Report(const Error& error, Console& console);
// The same after an answer whose document was printed already: only the sentence.
int ReportInWords(const Error& error, Console& console);
// Printed by every --json: the API's own JSON. Invisible characters are escaped.
void PrintJson(const nlohmann::json& answer, Console& console);
// Errors: kStale when the answer is older than the caller allows.
Result<void> CheckAge(const nlohmann::json& answer, std::optional<double> max_age_seconds);

}  // namespace gpuadvise::client
