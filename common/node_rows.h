// One node of `GET /v1/nodes` as JSON: its GPUs, the jobs on it with when they end, whom it is
// promised to, what it is reserved for.
//
// Made for the nodes of one page in O(jobs + reservations), then a row each; lives no longer than
// the view. See docs/api.md for the members.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/answers.h"
#include "common/gpu_labels.h"
#include "common/job_ends.h"
#include "common/pool_counts.h"
#include "common/queue_starts.h"
#include "common/seen.h"

namespace gpuadvise {

/// Jobs of one node in an answer at most.
inline constexpr size_t kMostJobsOfNode = 16;

class NodeRows {
 public:
  NodeRows(const std::vector<const Node*>& page, const ClusterView& view, const QueueStarts& starts,
           const Submitter& caller);

  /// REQUIRES: `node` is one of the page.
  nlohmann::json RowOf(const Node& node, const Seen& seen, const KeptNodes& kept,
                       GpuLabels& labels) const;

 private:
  struct Held {
    const Job* job = nullptr;
    const Allocation* allocation = nullptr;
  };
  struct Promise {
    const Job* job = nullptr;
    UnixSeconds start = 0;
  };
  struct OfNode {
    std::vector<Held> jobs;
    Promise promise;
    const Reservation* reservation = nullptr;  // the one that holds now, else the next
  };

  using Nodes = std::unordered_map<std::string_view, OfNode>;

  static Nodes WithJobs(const std::vector<const Node*>& page, const Snapshot& snapshot);
  static std::vector<int64_t> JobsOn(const Nodes& nodes);
  void AddPromises(const QueueStarts& starts);
  void AddReservations();
  nlohmann::json JobsJson(const OfNode& of, const Seen& seen, nlohmann::json& next_end) const;
  nlohmann::json PromiseJson(const Promise& promise, const Seen& seen) const;
  nlohmann::json ReservationJson(const Reservation* reservation) const;

  const ClusterView& view_;
  const Submitter& caller_;
  Nodes nodes_;
  const JobEnds ends_;
};

}  // namespace gpuadvise
