// Slurm's own commands with prepared answers, which remember what they were asked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/records/slurm_query.h"

namespace gpuadvise::client {

class FakeSlurm : public SlurmQuery {
 public:
  Result<std::string> Ask(const std::string& program,
                          const std::vector<std::string>& arguments) override {
    asked.push_back(arguments);
    const auto found = answers.find(program);
    if (!error.empty()) return Fail(ErrorCode::kInternal, error);
    if (found == answers.end()) return Fail(ErrorCode::kInternal, program + " is not in PATH");
    return found->second;
  }
  std::map<std::string, std::string> answers;  // by program
  std::string error;                           // of each; "": the answers
  std::vector<std::vector<std::string>> asked;
};

}  // namespace gpuadvise::client
