// Command lines of the collector for the setting `source`.
#pragma once

#include <string>

#include "common/base/error.h"
#include "daemon/collector/accounting.h"
#include "daemon/collector/collector.h"
#include "daemon/settings/settings.h"

namespace gpuadvise::daemon {

// Path of gpuadvise-collect: `configured` if set, else in the folder of `own_path` (the daemon's
// binary), then in ../libexec/gpuadvise. Errors: kNotFound with the paths tried.
Result<std::string> FindCollector(const std::string& configured, const std::string& own_path);

// The plans for `settings`; `collector`: path of the program.
AccountingPlan AccountingPlanFor(const Settings& settings, const std::string& collector);
CollectorPlan PlanFor(const Settings& settings, const std::string& collector);

// Path of the running program.
std::string OwnPath();

}  // namespace gpuadvise::daemon
