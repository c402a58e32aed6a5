// What settings name and this machine lacks, for `gpuadvised --check-config`.
#pragma once

#include <string>
#include <vector>

#include "daemon/settings/settings.h"

namespace gpuadvise::daemon {

// A sentence for each group, user, file or folder that is not there and each URL that is none;
// empty if all are sound. Catalogues, collector and history are checked by whoever loads them.
// Blocking file access.
std::vector<std::string> MissingOnThisMachine(const Settings& settings);

}  // namespace gpuadvise::daemon
