// The folder of a sweep that is kept: what was submitted, and which runs have begun and ended.
//
// Each run of a job script first makes a link `taken/RUN` to its job id, which only one job can do
// (symlink(2), also on NFS and with a full disk), and at its end a link `ended/RUN` to its exit
// status. So two jobs never make the same run, whatever happened to whoever submitted them; a
// failed run begins again only if its links are removed. `sweep.json` has the rest and is replaced
// as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/sbatch/job_choice.h"
#include "client/sbatch/sbatch_options.h"
#include "common/base/error.h"
#include "common/process/descriptor.h"

namespace gpuadvise::client {

// One array, and the strategy that it was submitted with.
struct SweepJob {
  int64_t id = 0;
  std::string gpu, partition;
  int64_t gpus_per_node = 1;
  int64_t nodes = 1;
  std::vector<int64_t> tasks;  // ascending
};

struct SweepRecord {
  std::string source;                  // the training file, as named
  std::string work_folder;             // from which jobs are submitted
  std::string array;                   // all runs, as --array
  nlohmann::json spec;                 // the training file's JSON
  SbatchOptions fixed;                 // the user's flags, without the array
  std::vector<std::string> passed_on;  // what followed `--`, without the array
  std::string objective;               // "": the file's
  std::vector<SweepJob> jobs;
  std::map<int64_t, int64_t> retries;              // of failed runs, by run
  std::map<int64_t, int64_t> placed;               // submissions of lost runs, by run
  std::set<int64_t> moving;                        // cancelled to be moved, not yet submitted
  std::map<std::string, std::string> environment;  // in which it was submitted: PATH and its like
};

// Of this process: the variables by which a job finds its programs.
std::map<std::string, std::string> ProgramVariables();

// Of a run that has begun.
struct TakenRun {
  int64_t job = 0;            // job id of the array's task; 0: not known
  std::optional<int> status;  // exit status; nullopt: not ended, or ended without a word
};

// Notes that `choice` was submitted as job `id`.
void AddJob(const Choice& choice, int64_t id, SweepRecord& record);

class SweepFolder {
 public:
  // Makes the folder. Errors: kBadInput if it exists or cannot be made.
  static Result<SweepFolder> Create(const std::string& path, SweepRecord record);
  // Errors: kNotFound, kBadInput: not a sweep's folder.
  static Result<SweepFolder> Open(const std::string& path);
  static bool IsOne(const std::string& path);

  const std::string& path() const { return path_; }  // absolute
  SweepRecord& record() { return record_; }
  const SweepRecord& record() const { return record_; }

  // Errors: kUnavailable, with the cause (a full disk).
  Result<void> Save() const;

  // Keeps others from the folder while this object lives. Errors: kUnavailable if somebody else
  // does.
  Result<void> Lock();

  // The runs that have begun, by number. Errors: kUnavailable.
  Result<std::map<int64_t, TakenRun>> Taken() const;

  // The exit status of `run`, looked up by its name, which a network file system shows sooner than
  // in a list; nullopt: none.
  std::optional<int> StatusOf(int64_t run) const;

  // Lets `run` begin again. Errors: kUnavailable.
  Result<void> Forget(int64_t run) const;

  // Removes the folder again; for a sweep of which nothing was submitted.
  void Remove() const;

 private:
  SweepFolder(std::string path, SweepRecord record)
      : path_(std::move(path)), record_(std::move(record)) {}

  std::string path_;
  SweepRecord record_;
  Descriptor lock_;
};

}  // namespace gpuadvise::client
