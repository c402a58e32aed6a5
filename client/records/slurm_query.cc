#include "client/records/slurm_query.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "common/base/text.h"
#include "common/process/run_program.h"

namespace gpuadvise::client {
namespace {

constexpr std::chrono::seconds kPatience(60);
constexpr size_t kMostBytes = 64 << 20;  // enough for a month of a busy user's jobs and steps

}  // namespace

Result<std::string> SystemSlurmQuery::Ask(const std::string& program,
                                          const std::vector<std::string>& arguments) {
  const std::string path = FindInPath(program, std::getenv("PATH"));
  if (path.empty()) {
    return Fail(ErrorCode::kInternal,
                program + " is not in PATH; run this on a login node of the cluster");
  }
  ProgramCall call;
  call.command.words = {path};
  call.command.words.insert(call.command.words.end(), arguments.begin(), arguments.end());
  call.command.environment = {"SLURM_TIME_FORMAT=standard", "LC_ALL=C"};
  for (const char* filter :
       {"ACCOUNT", "ALL", "ARRAY", "FORMAT", "FORMAT2", "LICENSES", "LOCAL", "NAMES", "PARTITION",
        "PRIORITY", "QOS", "SIBLING", "SORT", "STATES", "USERS"}) {
    call.command.environment.push_back(std::string("SQUEUE_") + filter);  // a user's own view
  }
  call.deadline = kPatience;
  call.max_output_bytes = kMostBytes;
  call.ends_at_bound = true;
  Result<ProgramEnd> end = RunToCompletion(call);
  if (!end) return tl::unexpected<Error>(std::move(end.error()));
  if (end->ok()) return std::move(end->output);
  const std::string words(Trim(end->errors.substr(0, end->errors.find('\n'))));
  return Fail(ErrorCode::kInternal, words.empty() ? fmt::format("{} {}", program, InWords(end->end))
                                                  : fmt::format("{} failed: {}", program, words));
}

}  // namespace gpuadvise::client
