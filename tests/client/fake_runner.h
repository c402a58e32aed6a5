// An sbatch with prepared answers that remembers what it was given.
#pragma once

#include <string>
#include <vector>

#include "client/sbatch/job_runner.h"

namespace gpuadvise::client {

class FakeRunner : public JobRunner {
 public:
  Result<std::string> Submit(const std::vector<std::string>& arguments,
                             const std::string& script) override {
    ++runs;
    given = arguments;
    stdin_text = script;
    if (refused_from > 0 && runs >= refused_from) return Fail(ErrorCode::kInternal, "sbatch: no");
    return answer;
  }
  Result<SbatchVerdict> Test(const std::vector<std::string>& arguments,
                             const std::string& script) override {
    ++tests;
    tested = arguments;
    tested_script = script;
    return verdict;
  }
  Result<void> Cancel(int64_t job_id, const std::string&) override {
    cancelled.push_back(job_id);
    return {};
  }
  Result<void> Allocate(const std::vector<std::string>& arguments) override {
    allocated = arguments;
    return {};
  }
  int runs = 0;
  int refused_from = 0;  // from this run on; 0: none
  int tests = 0;
  std::vector<int64_t> cancelled;
  std::vector<std::string> given, tested, allocated;
  std::string stdin_text, tested_script;
  Result<SbatchVerdict> verdict = SbatchVerdict{true, "sbatch: Job 5 to start at now\n"};
  Result<std::string> answer = std::string("4711\n");
};

}  // namespace gpuadvise::client
