// GET /v1/queue: the jobs of the cluster with when each will start and end, a page at a time, and
// how many of them there are by partition and GPU type.
//
// Pure; safe from any thread. O(jobs) a request, whatever the page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/answers.h"
#include "common/queue_starts.h"

namespace gpuadvise {

/// Jobs of one answer at most.
inline constexpr size_t kMostQueueRows = 10'000;

/// Which jobs of the queue are asked for; empty and nullopt: all.
struct QueueFilter {
  std::string user;
  std::string partition;
  std::string gpu;              // catalogue id
  std::string search;           // a job's number, or part of its name, user or account
  std::optional<bool> running;  // true: that run, false: that wait
  size_t offset = 0;
  size_t limit = kMostQueueRows;
};

/// `starts`: StartsInQueue(view.queue).
nlohmann::json AnswerQueue(const QueueFilter& filter, const ClusterView& view,
                           const QueueStarts& starts, const Submitter& caller);

}  // namespace gpuadvise
