#include "client/job_checks.h"

#include <filesystem>
#include <iterator>

#include "client/job_plan_reader.h"
#include "client/job_runner.h"
#include "client/preflight/folder_checks.h"
#include "client/preflight/preflight.h"
#include "client/slurm_checks.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

JobChecks CheckPlan(const JobPlan& plan, Site& site) {
  const JobFacts facts = site.LookAt(plan);
  return {PreflightChecks(plan, facts), LogFoldersToMake(facts), facts.outcome_folder};
}

}  // namespace

JobChecks CheckJob(const json& spec, const Choice& choice, Site& site, JobRunner* runner,
                   int64_t now) {
  JobChecks job = CheckPlan(ReadJobPlan(spec, choice.strategy, choice.script.options), site);
  std::vector<Check> slurm = AccessChecks(choice.answer, choice.strategy);
  slurm.push_back(TimeLimitCheck(spec, choice.strategy));
  if (runner != nullptr) {
    const auto verdict = runner->Test(choice.arguments, choice.script.text);
    slurm.push_back(SiteCheck(verdict, choice.strategy, now));
  }
  std::move(slurm.begin(), slurm.end(), std::back_inserter(job.checks));
  return job;
}

JobChecks CheckFile(const json& spec, const SbatchOptions& fixed, Site& site) {
  const json none = json::object();
  return CheckPlan(ReadJobPlan(spec, none, StrategyOptions(spec, none, fixed)), site);
}

Result<void> MakeFolders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      return Fail(ErrorCode::kInternal,
                  "the log folder " + folder + " could not be made: " + error.message());
    }
  }
  return {};
}

}  // namespace gpuadvise
