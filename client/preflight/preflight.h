// Checks of a job before its submission. A JobPlan is read from its files, a Site collects the
// JobFacts on this machine, and the checks judge both, together with Slurm's verdict.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/preflight/hub_login.h"
#include "client/preflight/path_facts.h"
#include "client/preflight/quota.h"
#include "client/sbatch/job_choice.h"
#include "client/sbatch/job_runner.h"
#include "client/sbatch/sbatch_options.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// The result of one check.
enum class Health { kOk, kWarning, kError };

struct Check {
  Health health = Health::kOk;
  std::string subject;  // "socket", at most 11 letters
  std::string finding;  // one sentence, with a remedy unless ok
};

// The checkpoints that the run writes.
struct CheckpointPlan {
  std::optional<int64_t> bytes;  // per checkpoint
  std::string estimated_from;    // basis of an estimate of `bytes`; "": given
  std::optional<int64_t> keep;
  std::optional<int64_t> save_steps;
  int64_t steps = 0;  // of the whole run; 0: unknown
};

// A job about to be submitted, as written in its files. A value; placeholders in paths are filled
// in, but nothing is expanded.
struct JobPlan {
  std::string chdir;              // sbatch's --chdir; "": the current folder
  std::string workdir;            // that the script changes to; "": none
  std::string output_dir;         // "": none
  std::vector<std::string> logs;  // sbatch's --output and --error, with their %-patterns
  std::string job_name;           // for %x
  std::string container;          // image; "": none
  std::string command;            // "": none
  bool has_setup = false;         // the user's lines run before the command
  std::vector<std::pair<std::string, std::string>> env;  // in export order
  CheckpointPlan checkpoints;
};

// `spec`: the training file's JSON; `strategy`: one of the advice, or an empty one; `options`: for
// sbatch. Leaves out invalid values: the daemon validates the file.
JobPlan ReadJobPlan(const nlohmann::json& spec, const api::Strategy& strategy,
                    const SbatchOptions& options);

// A path of the job, and what is unknown about it here.
struct JobPath {
  std::string name;          // as written, with its option if any: "--data-path data"
  PathFacts found;           // of its known part if `only_in_job` is set
  std::string only_in_job;   // a variable or %-pattern known only in the job
  std::string not_set;       // a variable without a value here
  bool has_command = false;  // has `$(` or a backquote
  bool may_be_hub = false;   // may be a name on the Hub
  bool may_be_made = false;  // an earlier part of the command may create it
};

struct ProgramFacts {
  std::string name;
  std::string path;             // where it was found; "": nowhere
  bool may_be_brought = false;  // an earlier part of the command may provide it
};

struct HubModel {
  std::string name;
  bool cached = false;
};

// The findings on this machine. A value, so that the checks are pure functions.
struct JobFacts {
  std::optional<JobPath> workdir, output, container;  // nullopt: not in the job
  std::string outcome_folder;  // where `gpuadvise run` will write; "": unknown here
  std::vector<JobPath> logs;
  std::vector<ProgramFacts> programs;
  std::vector<JobPath> scripts, settings, data;
  std::string apptainer;  // its path; "": not in PATH here
  HubLogin login;
  std::vector<HubModel> hub_models;
  bool pushes_to_hub = false;
  bool quota_asked = false;        // a `quota` program exists and answered
  std::string quota_trouble;       // why it did not answer; "": it did, or does not exist
  std::optional<DiskQuota> quota;  // of the output folder's file system
  CheckpointPlan checkpoints;      // the plan's, completed from the command
};

// This machine, or a fake in tests.
class Site {
 public:
  virtual ~Site() = default;
  // Changes nothing; takes at most some seconds.
  virtual JobFacts Inspect(const JobPlan& plan) = 0;
};

// The individual checks: pure functions, grouped by file.

// client/preflight/folder_checks.cc
Check OutputFolderCheck(const JobPlan& plan, const JobFacts& facts);
// One per log; none for logs that are devices.
std::vector<Check> LogFolderChecks(const JobFacts& facts);
// Empty if the training file has no workdir.
std::vector<Check> WorkdirChecks(const JobFacts& facts);

// Log folders to create, because Slurm does not.
std::vector<std::string> LogFoldersToMake(const JobFacts& facts);

// client/preflight/space_checks.cc
// "space": one check if the output folder's file system is known, else none.
std::vector<Check> SpaceChecks(const JobFacts& facts);

// "quota": one check if there is a `quota` program, else none.
std::vector<Check> QuotaChecks(const JobFacts& facts);

// `steps` rounded up to a number with at most two significant digits, for use as an interval.
int64_t RoundInterval(int64_t steps);

// client/preflight/command_checks.cc
std::vector<Check> ProgramChecks(const JobPlan& plan, const JobFacts& facts);
std::vector<Check> FileChecks(const JobPlan& plan, const JobFacts& facts);
// Empty if the job uses no container.
std::vector<Check> ContainerChecks(const JobPlan& plan, const JobFacts& facts);
// Empty if the command neither names a model on the Hub nor uploads.
std::vector<Check> LoginChecks(const JobPlan& plan, const JobFacts& facts);

// Differences between the command and `strategy`; empty: none.
std::vector<Check> ObedienceChecks(const nlohmann::json& spec, const api::Strategy& strategy);

// client/preflight/slurm_checks.cc
// Slurm's verdict on the job. Its start is shown with the forecast of `strategy` and labelled:
// `--test-only` considers the limits of running jobs but no waiting ones. Finding no nodes is only
// a warning, because Slurm also reports it for busy nodes.
Check SiteCheck(const Result<SbatchVerdict>& verdict, const api::Strategy& strategy, int64_t now);

// The account, QOS and partition of `strategy`, as judged by the daemon.
Check AccessCheck(const api::Strategy& strategy);

// Why no strategy is left: first the reasons common to all.
std::vector<Check> RejectionChecks(const std::vector<api::Rejection>& rejected);

// Whether the run ends within its time limit or can resume from a checkpoint.
Check TimeLimitCheck(const nlohmann::json& spec, const api::Strategy& strategy);

// Whether the file gives what decides memory and run time. An error if a time limit was chosen
// without it: the job might end in the middle of its run.
Check AssumptionCheck(const Choice& choice);

struct JobChecks {
  std::vector<Check> checks;
  std::vector<std::string> log_folders;  // to create before submission
  std::string outcome_folder;            // where its outcome will be; "": unknown here
};

// `runner`: nullptr skips Slurm's check.
JobChecks CheckJob(const nlohmann::json& spec, const Choice& choice, Site& site, JobRunner* runner,
                   int64_t now);

// Checks without a strategy: only those on this machine.
JobChecks CheckFile(const nlohmann::json& spec, const SbatchOptions& fixed, Site& site);

// Creates folders and their parents. Errors: the first failure.
Result<void> MakeFolders(const std::vector<std::string>& folders);

}  // namespace gpuadvise::client
