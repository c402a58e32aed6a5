// What a site's settings leave open on its cluster: GPU types that the catalogue does not know, a
// public account or QOS that Slurm does not have. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/slurm/snapshot.h"
#include "daemon/settings/catalogues.h"

namespace gpuadvise::daemon {

// Sentences for an administrator, each with the remedy; they name nodes and accounts.
std::vector<std::string> FindSiteProblems(const Snapshot& snapshot, const Catalogues& catalogues);

}  // namespace gpuadvise::daemon
