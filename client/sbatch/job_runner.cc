#include "client/sbatch/job_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace gpuadvise::client {
namespace {

constexpr std::chrono::seconds kTestDeadline(60);

Result<std::string> FindProgram(const char* name, const char* otherwise) {
  std::string program = FindInPath(name, std::getenv("PATH"));
  if (!program.empty()) return program;
  return Fail(ErrorCode::kInternal,
              fmt::format("{} is not in PATH; run this on a login node of the cluster, or {}", name,
                          otherwise));
}

Result<std::string> FindSbatch() { return FindProgram("sbatch", "use --dry-run"); }

}  // namespace

Result<std::string> SbatchRunner::Submit(const std::vector<std::string>& arguments,
                                         const std::string& script) {
  const Result<std::string> sbatch = FindSbatch();
  if (!sbatch) return sbatch;
  return RunProgram(*sbatch, arguments, script, ChildErrors::kInherited);
}

Result<SbatchVerdict> RunTest(const std::vector<std::string>& words, const std::string& script) {
  ProgramCall call;
  call.command.words = words;
  call.child.errors = ChildErrors::kTogether;
  call.input = script;
  call.deadline = kTestDeadline;
  Result<ProgramEnd> end = RunToCompletion(call);
  if (!end) return tl::unexpected<Error>(std::move(end.error()));
  return SbatchVerdict{end->ok(), std::move(end->output)};
}

Result<SbatchVerdict> SbatchRunner::Test(const std::vector<std::string>& arguments,
                                         const std::string& script) {
  const Result<std::string> sbatch = FindSbatch();
  if (!sbatch) return tl::unexpected<Error>(sbatch.error());
  std::vector<std::string> words = {*sbatch, "--test-only"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return RunTest(words, script);
}

Result<void> SbatchRunner::Cancel(int64_t job_id, const std::string& cluster) {
  const Result<std::string> scancel = FindProgram("scancel", "cancel it there");
  if (!scancel) return tl::unexpected<Error>(scancel.error());
  std::vector<std::string> arguments = {std::to_string(job_id)};
  if (!cluster.empty()) arguments.push_back("--clusters=" + cluster);
  const Result<std::string> printed = RunProgram(*scancel, arguments, "", ChildErrors::kInherited);
  if (!printed) return tl::unexpected<Error>(printed.error());
  return {};
}

Result<void> SbatchRunner::Allocate(const std::vector<std::string>& arguments) {
  const Result<std::string> salloc = FindProgram("salloc", "paste the line there");
  if (!salloc) return tl::unexpected<Error>(salloc.error());
  std::vector<std::string> words = {*salloc};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  execv(salloc->c_str(), pointers.data());
  return Fail(ErrorCode::kInternal,
              fmt::format("{}: {}", *salloc, std::generic_category().message(errno)));
}

}  // namespace gpuadvise::client
