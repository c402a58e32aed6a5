// Running the site's sbatch as the caller.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"

namespace gpuadvise {

class JobRunner {
 public:
  virtual ~JobRunner() = default;
  /// Runs `sbatch ARGUMENTS` with `script` on its standard input; its standard error is the
  /// caller's. Returns what it printed. Errors: not in PATH, or it failed.
  virtual Result<std::string> Submit(const std::vector<std::string>& arguments,
                                     const std::string& script) = 0;
};

/// The `sbatch` found in PATH.
class SbatchRunner : public JobRunner {
 public:
  Result<std::string> Submit(const std::vector<std::string>& arguments,
                             const std::string& script) override;
};

/// The first executable `name` in the directories of `path` ("a:b"); "" when there is none.
std::string FindInPath(const std::string& name, const char* path);

/// Runs `program` (a path) with `arguments` and `input`. Its standard error is inherited, or
/// discarded. Returns its standard output (at most 1 MiB). Errors: it could not run, or its status.
enum class ChildErrors { kInherited, kDiscarded };
Result<std::string> RunProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& input,
                               ChildErrors errors);

}  // namespace gpuadvise
