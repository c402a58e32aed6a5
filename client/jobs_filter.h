// Which jobs of the experiment log are wanted, and in which order: the newest first.
//
// Pure functions over GET /v1/advice's jobs.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace gpuadvise {

struct JobsFilter {
  std::string state;             // "pending", "running", "ended", "failed", "ok"; "" all
  std::string gpu;               // part of the GPU's name: "4090", "rtx-4090"
  std::string name;              // part of the job's name, in any case
  std::optional<int64_t> since;  // submitted then or later, unix seconds
  std::optional<int64_t> limit;  // so many of the newest

  /// Whether jobs are left out by what they are, not only by how many there are.
  bool Selects() const {
    return !state.empty() || !gpu.empty() || !name.empty() || since.has_value();
  }
};

/// The wanted ones of a list of jobs; what is no object is left out.
nlohmann::json FilteredJobs(const nlohmann::json& jobs, const JobsFilter& filter);

}  // namespace gpuadvise
