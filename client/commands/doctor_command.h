// `gpuadvise doctor`: what stands between this user and an answer, or between a training file and a
// job that succeeds, with the remedy for each.
#pragma once

#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/commands/command.h"
#include "client/preflight/preflight.h"
#include "client/questions/advice_question.h"
#include "client/terminal/console.h"

namespace gpuadvise::client {

// What doctor looks at outside the API; a value, so that tests decide.
struct Surroundings {
  std::string client_version;
  std::string daemon;          // where it is asked
  std::string sbatch;          // path, "" not in PATH
  std::string sbatch_version;  // "slurm 22.05.8", "" when it does not run
  std::string slurm_conf;      // the file that would be read, "" none found
  bool slurm_conf_readable = false;
  std::vector<std::string> settings_files;
  std::string accounting_problem = {};  // what lacks because sacct gets no answer; "": it gets one
};

// The process's own surroundings; runs `sbatch --version`.
Surroundings FindSurroundings(const SettingsPlaces& places, const std::string& daemon);

// All checks, in the order in which an answer needs them.
std::vector<Check> CheckHealth(Api& api, const Surroundings& surroundings);

// Prints the checks; kExitError when one failed.
int RunDoctor(Api& api, const Surroundings& surroundings, Console& console);

// Prints what the forecast makes of the site's slurm.conf, key by key: played, approximated or not
// known. kExitOk whatever that is.
int RunDoctorOfSite(Api& api, Console& console);

// The same for a training file: these checks, then those of the job that `submit` would make of
// it. Slurm is asked once whether it would take that job. kExitUsage for a file that cannot be
// read.
int RunDoctorOfFile(const AdviceQuestion& question, Api& api, const JobSubmission& submission,
                    const Surroundings& surroundings, Console& console);

}  // namespace gpuadvise::client
