// What settings name and this machine lacks, for `gpuadvised --check-config`.
#pragma once

#include <string>
#include <vector>

#include "daemon/settings/settings.h"

namespace gpuadvise::daemon {

// A sentence for the groups, users, files and folders of Slurm's side that are not there and each
// URL that is none; empty if all are sound. Catalogues, collector, certificates and history are
// checked by whoever loads them. Blocking file access.
std::vector<std::string> MissingOnThisMachine(const Settings& settings);

}  // namespace gpuadvise::daemon
