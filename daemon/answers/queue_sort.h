// The order of GET /v1/queue: by forecast start, or by what the caller asks for.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/forecast/job_ends.h"
#include "common/forecast/queue_starts.h"
#include "common/slurm/snapshot.h"

namespace gpuadvise::daemon {

enum class QueueKey { kNone, kJob, kUser, kGpus, kPartition, kState, kSubmit, kPriority, kStart };

struct QueueSort {
  QueueKey key = QueueKey::kNone;
  bool down = false;
};

// "job_id", "-job_id" (down) and so on. Errors: kBadInput with the known names.
Result<QueueSort> ParseQueueSort(std::string_view text);

// Sorts `jobs`. Without a key those that wait come first, in the order in which they are said to
// start, then those that run by id. By kStart it is the median start of those that wait and the
// median end of those that run; by kUser jobs for which `may_see` is false come last, as does what
// is not known, up or down. The same for every page of one snapshot.
void SortQueue(const QueueSort& sort, const QueueStarts& starts, const JobEnds& ends,
               UnixSeconds now, const std::function<bool(const Job&)>& may_see,
               std::vector<const Job*>& jobs);

}  // namespace gpuadvise::daemon
