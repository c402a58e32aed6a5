#include "daemon/api/event_teller.h"

#include <set>
#include <utility>

#include "common/base/version.h"
#include "common/gpu/gpu_pool.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/gres.h"
#include "daemon/answers/visibility.h"
#include "daemon/api/frame.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

json FreeJson(const std::map<std::string, FreeGpuCount>& free) {
  json list = json::array();
  for (const auto& [gpu, counts] : free) {
    list.push_back({{"gpu", gpu},
                    {"gpu_name", counts.gpu_name},
                    {"free", counts.free},
                    {"total", counts.total}});
  }
  return list;
}

// What a snapshot event says of the state alone: what anybody may know.
json FactsOf(const DaemonState& state, const std::map<std::string, FreeGpuCount>& free) {
  const Visibility anybody(*state.snapshot, Submitter());
  int64_t running = 0;
  int64_t pending = 0;
  for (const Job& job : state.snapshot->jobs) {
    if (!anybody.SeesOneOf(job.request.partitions)) continue;
    HoldsNodes(job) ? ++running : ++pending;
  }
  return {{"snapshot_taken_at", state.snapshot->taken_at},
          {"cluster", state.snapshot->cluster},
          {"source", state.snapshot->source},
          {"pending", pending},
          {"running", running},
          {"free", FreeJson(free)}};
}

json NoFacts() {
  return {{"snapshot_taken_at", nullptr}, {"cluster", nullptr}, {"source", nullptr},
          {"pending", nullptr},           {"running", nullptr}, {"free", json::array()}};
}

}  // namespace

std::map<std::string, FreeGpuCount> FreeGpusIn(const DaemonState& state) {
  std::map<std::string, FreeGpuCount> by_type;
  std::set<std::pair<const Node*, std::string>> counted;  // a node may be in several partitions
  for (const GpuPool& pool : state.Pools()) {
    FreeGpuCount& type = by_type[pool.Id()];
    type.gpu_name = pool.Name();
    for (const Node* node : pool.nodes) {
      if (!counted.emplace(node, pool.gres_type).second) continue;
      type.free += CountFreeGpus(*node, pool.gres_type);
      type.total += GpusOfType(node->gpus, pool.gres_type);
    }
  }
  return by_type;
}

std::shared_ptr<EventFeed> EventTeller::Join(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  const Freshness freshness = cluster_.FreshnessOf(seen_.lock().get());
  return hub_.Join(peer.anonymous ? -1 : peer.uid, Picture(freshness));
}

void EventTeller::Publish() {
  const std::lock_guard one_at_a_time(publishing_);
  const auto state = cluster_.state();
  const Freshness freshness = cluster_.FreshnessOf(state.get());
  const bool is_new = state && seen_.lock() != state;
  if (!is_new && cause_ == freshness.cause) return;
  std::map<std::string, FreeGpuCount> free;
  nlohmann::json facts;
  if (is_new) {
    free = FreeGpusIn(*state);
    facts = FactsOf(*state, free);
  }
  const std::lock_guard lock(mutex_);
  const std::map<std::string, FreeGpuCount> before = free_;
  if (is_new) {
    seen_ = state;
    ++number_;
    free_ = std::move(free);
    facts_ = std::move(facts);
  }
  cause_ = freshness.cause;
  hub_.TellAll(Picture(freshness));
  for (const auto& [gpu, now] : free_) {
    const auto known = before.find(gpu);
    if (known == before.end() || known->second.free >= now.free) continue;
    const json freed = {{"gpu", gpu},
                        {"gpu_name", now.gpu_name},
                        {"free", now.free},
                        {"before", known->second.free}};
    hub_.TellAll(EventText("freed", Text(freed)));
  }
}

SharedText EventTeller::Picture(const Freshness& freshness) const {
  json event = facts_.is_null() ? NoFacts() : facts_;
  event["number"] = number_;
  event["snapshot_age_seconds"] = facts_.is_null() ? json() : json(freshness.age_seconds);
  event["stale_cause"] = freshness.cause ? json(*freshness.cause) : json();
  event["version"] = kVersion;
  return EventText("snapshot", Text(event));
}

void EventTeller::OnJobsChanged(const std::vector<PastJob>& changed) {
  for (const PastJob& job : changed) {
    if (!job.record.start || job.record.end || !job.submission) continue;
    const json started = {
        {"job_id", job.record.id}, {"state", "running"}, {"start_time", *job.record.start}};
    hub_.Tell(job.submission->uid, EventText("job", Text(started)));
  }
}

}  // namespace gpuadvise::daemon
