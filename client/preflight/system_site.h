// This machine, as seen by a job's submission.
#pragma once

#include <string>

#include "client/preflight/preflight.h"
#include "client/shell/shell_text.h"

namespace gpuadvise::client {

// The environment of this process.
Variables VariablesOfThisProcess();

// Examines files, file systems and quotas.
class SystemSite : public Site {
 public:
  // `folder`: where sbatch will run, absolute.
  SystemSite(Variables environment, std::string folder)
      : environment_(std::move(environment)), folder_(std::move(folder)) {}
  // A site with this process's environment and folder.
  static SystemSite OfThisProcess();

  JobFacts Inspect(const JobPlan& plan) override;

 private:
  Variables environment_;
  std::string folder_;
};

}  // namespace gpuadvise::client
