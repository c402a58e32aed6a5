#include "client/preflight/preflight.h"

#include <algorithm>
#include <iterator>

#include "client/preflight/command_checks.h"
#include "client/preflight/folder_checks.h"
#include "client/preflight/space_checks.h"

namespace gpuadvise {

std::vector<Check> PreflightChecks(const JobPlan& plan, const JobFacts& facts) {
  std::vector<Check> checks;
  const auto add = [&](std::vector<Check> more) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  };
  add(LogFolderChecks(facts));
  add(WorkdirChecks(facts));
  add({OutputFolderCheck(plan, facts)});
  add(SpaceChecks(facts));
  add(QuotaChecks(facts));
  add(ContainerChecks(plan, facts));
  add(ProgramChecks(plan, facts));
  add(FileChecks(plan, facts));
  add(LoginChecks(plan, facts));
  return checks;
}

}  // namespace gpuadvise
