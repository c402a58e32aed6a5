// After a submission: the job's id, and what the daemon is told.
#pragma once

#include <cstdint>
#include <string>

#include "client/api/daemon_client.h"
#include "client/sbatch/job_choice.h"
#include "client/terminal/console.h"
#include "common/base/error.h"
#include "common/runs/experiment.h"

namespace gpuadvise::client {

// From what `sbatch --parsable` printed: "4711" or "4711;cluster". Errors: neither.
Result<int64_t> JobIdFrom(const std::string& printed);

// The daemon looks at the queue soon and knows the job's advice. Not being able to say so spoils
// nothing. `outcome_folder`: where the job leaves its outcome; "" unknown. `sweep`: of an array.
void TellDaemon(Api& api, const Choice& choice, int64_t job_id, const std::string& outcome_folder,
                const SweepPart& sweep, Console& console);

}  // namespace gpuadvise::client
