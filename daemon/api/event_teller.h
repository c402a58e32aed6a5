// What listeners of GET /v1/events are told: that there is a new snapshot (and what is free in it),
// that GPUs became free, that a job of theirs started (docs/api.md).
//
// Publish() is called after whatever may have changed the picture; it tells only what did. Safe
// from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/history/forecast_history.h"
#include "daemon/base/api_types.h"
#include "daemon/http/event_feed.h"
#include "daemon/state/cluster_state.h"

namespace gpuadvise::daemon {

// Free GPUs of one type, as events name them.
struct FreeGpuCount {
  std::string gpu_name;
  int64_t free = 0;
  int64_t total = 0;
};

// By GPU type; what anybody may see.
std::map<std::string, FreeGpuCount> FreeGpusIn(const DaemonState& state);

class EventTeller {
 public:
  // REQUIRES: `cluster` outlives the teller.
  explicit EventTeller(const ClusterState& cluster) : cluster_(cluster) {}

  // A feed for `peer` that begins with the picture as it is.
  std::shared_ptr<EventFeed> Join(const Peer& peer);

  // Tells everybody of a new state, and of a new reason why none comes. With a large cluster it
  // takes some ms.
  void Publish();

  // Tells their owners of those among `changed` that have just started.
  void OnJobsChanged(const std::vector<PastJob>& changed);

 private:
  SharedText Picture(const Freshness& freshness) const;  // REQUIRES: mutex_ held

  const ClusterState& cluster_;
  EventHub hub_;

  std::mutex publishing_;  // one Publish() at a time, which alone writes below; taken before mutex_
  std::mutex mutex_;       // guards all below; never held for long
  std::weak_ptr<const DaemonState> seen_;
  nlohmann::json facts_;  // of the state that was seen; null before the first
  std::map<std::string, FreeGpuCount> free_;
  std::optional<std::string> cause_;
  int64_t number_ = 0;
};

}  // namespace gpuadvise::daemon
