#include "client/sbatch/job_runner.h"

#include <chrono>
#include <cstdlib>

namespace gpuadvise::client {
namespace {

constexpr std::chrono::seconds kTestDeadline(60);

Result<std::string> FindSbatch() {
  std::string sbatch = FindInPath("sbatch", std::getenv("PATH"));
  if (!sbatch.empty()) return sbatch;
  return Fail(ErrorCode::kInternal,
              "sbatch is not in PATH; run this on a login node of the cluster, or use --dry-run");
}

}  // namespace

Result<std::string> SbatchRunner::Submit(const std::vector<std::string>& arguments,
                                         const std::string& script) {
  const Result<std::string> sbatch = FindSbatch();
  if (!sbatch) return sbatch;
  return RunProgram(*sbatch, arguments, script, ChildErrors::kInherited);
}

Result<SbatchVerdict> SbatchRunner::Test(const std::vector<std::string>& arguments,
                                         const std::string& script) {
  const Result<std::string> sbatch = FindSbatch();
  if (!sbatch) return tl::unexpected<Error>(sbatch.error());
  ProgramCall call;
  call.command.words = {*sbatch, "--test-only"};
  call.command.words.insert(call.command.words.end(), arguments.begin(), arguments.end());
  call.child.errors = ChildErrors::kTogether;
  call.input = script;
  call.deadline = kTestDeadline;
  Result<ProgramEnd> end = RunToCompletion(call);
  if (!end) return tl::unexpected<Error>(std::move(end.error()));
  return SbatchVerdict{end->ok(), std::move(end->output)};
}

}  // namespace gpuadvise::client
