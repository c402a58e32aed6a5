// Runs the site's sbatch and salloc as the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/process/run_program.h"

namespace gpuadvise::client {

// The answer of `sbatch --test-only`.
struct SbatchVerdict {
  bool accepted = false;
  std::string said;  // its output; not yet safe for a terminal
};

// Runs `words`, a test of whether the site accepts `script`, for a minute at most. Errors: it
// cannot be run, or gives no answer.
Result<SbatchVerdict> RunTest(const std::vector<std::string>& words, const std::string& script);

class JobRunner {
 public:
  virtual ~JobRunner() = default;
  // Runs `sbatch ARGUMENTS` with `script` on its standard input and the caller's standard error.
  // Returns its output. Errors: not in PATH, or failure.
  virtual Result<std::string> Submit(const std::vector<std::string>& arguments,
                                     const std::string& script) = 0;
  // Asks whether the site accepts the job: `sbatch --test-only ARGUMENTS`. Costs slurmctld a
  // scheduling attempt and a job id, so it is done once per submission. Errors: not in PATH, or no
  // answer within a minute.
  virtual Result<SbatchVerdict> Test(const std::vector<std::string>& arguments,
                                     const std::string& script) = 0;
  // Cancels a job of this user; `cluster` "": the one that sbatch submits to. Errors: not in PATH,
  // or failure.
  virtual Result<void> Cancel(int64_t job_id, const std::string& cluster) = 0;
  // Puts `salloc ARGUMENTS` in the place of this process. Returns only errors: not in PATH, or it
  // cannot be run.
  virtual Result<void> Allocate(const std::vector<std::string>& arguments) = 0;
};

// The `sbatch` and `salloc` found in PATH.
class SbatchRunner : public JobRunner {
 public:
  Result<std::string> Submit(const std::vector<std::string>& arguments,
                             const std::string& script) override;
  Result<SbatchVerdict> Test(const std::vector<std::string>& arguments,
                             const std::string& script) override;
  Result<void> Cancel(int64_t job_id, const std::string& cluster) override;
  Result<void> Allocate(const std::vector<std::string>& arguments) override;
};

}  // namespace gpuadvise::client
