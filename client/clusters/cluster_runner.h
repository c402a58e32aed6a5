// sbatch of another cluster: `sbatch -M NAME`, or the command that the site gives for it.
#pragma once

#include <string>
#include <vector>

#include "client/clusters/cluster.h"
#include "client/sbatch/job_runner.h"

namespace gpuadvise::client {

class ClusterRunner : public JobRunner {
 public:
  explicit ClusterRunner(std::vector<Cluster> clusters) : clusters_(std::move(clusters)) {}

  // `arguments` name the cluster (--clusters=NAME), which decides what runs. A site's command gets
  // the others as they are; a remote shell may read them again, so one with a character that a
  // shell gives a meaning to is refused (kBadInput).
  Result<std::string> Submit(const std::vector<std::string>& arguments,
                             const std::string& script) override;
  Result<SbatchVerdict> Test(const std::vector<std::string>& arguments,
                             const std::string& script) override;
  Result<void> Cancel(int64_t job_id, const std::string& cluster) override {
    return sbatch_.Cancel(job_id, cluster);
  }
  Result<void> Allocate(const std::vector<std::string>& arguments) override {
    return sbatch_.Allocate(arguments);
  }

 private:
  // Words of the site's command with `arguments`; empty: sbatch itself takes them.
  Result<std::vector<std::string>> Command(std::vector<std::string> arguments) const;

  const std::vector<Cluster> clusters_;
  SbatchRunner sbatch_;
};

}  // namespace gpuadvise::client
