// Runs Slurm's own commands as the caller.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

class SlurmQuery {
 public:
  virtual ~SlurmQuery() = default;
  // Output of `program` ("sacct", "scontrol"). Errors: not in PATH; failure, with its message; no
  // answer within a minute.
  virtual Result<std::string> Ask(const std::string& program,
                                  const std::vector<std::string>& arguments) = 0;
};

// The programs found in PATH.
class SystemSlurmQuery : public SlurmQuery {
 public:
  Result<std::string> Ask(const std::string& program,
                          const std::vector<std::string>& arguments) override;
};

}  // namespace gpuadvise::client
