// What was found on this machine about a job that is about to be submitted.
//
// A value, so that the checks over it are pure and tests decide. `Site` is the seam: the process's
// own machine, or a test's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/preflight/hub_login.h"
#include "client/preflight/job_plan.h"
#include "client/preflight/path_facts.h"
#include "client/preflight/quota.h"

namespace gpuadvise {

/// A path of the job's, and what about it cannot be told here.
struct JobPath {
  std::string name;          // as written, or an option with it: "--data-path data"
  PathFacts found;           // of its known front where `only_in_job` is set
  std::string only_in_job;   // a variable or %-pattern that only the job knows
  std::string not_set;       // a variable without a value here
  bool has_command = false;  // holds `$(` or a backquote
  bool may_be_hub = false;   // could be a name of the Hub as well
  bool may_be_made = false;  // by an earlier part of the command
};

struct ProgramFacts {
  std::string name;
  std::string path;             // where it was found; "" nowhere
  bool may_be_brought = false;  // by an earlier part of the command
};

struct HubModel {
  std::string name;
  bool cached = false;
};

struct JobFacts {
  std::optional<JobPath> workdir, output, container;  // nullopt: the job names none
  std::string outcome_folder;  // where `gpuadvise run` will write; "" only the job knows
  std::vector<JobPath> logs;
  std::vector<ProgramFacts> programs;
  std::vector<JobPath> scripts, settings, data;
  std::string apptainer;  // its path; "" not in PATH here
  HubLogin login;
  std::vector<HubModel> hub_models;
  bool pushes_to_hub = false;
  bool quota_asked = false;        // there is a `quota` program, and it answered
  std::string quota_trouble;       // why it did not; "" it did, or there is none
  std::optional<DiskQuota> quota;  // of the output folder's file system
  CheckpointPlan checkpoints;      // the plan's, with what the command says where it is silent
};

class Site {
 public:
  virtual ~Site() = default;
  /// Looks once, changes nothing; takes at most seconds.
  virtual JobFacts LookAt(const JobPlan& plan) = 0;
};

}  // namespace gpuadvise
