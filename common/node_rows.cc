#include "common/node_rows.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/answer_jobs.h"
#include "common/gres.h"
#include "common/node_pool.h"
#include "common/node_state.h"
#include "common/policy.h"

namespace gpuadvise {

using nlohmann::json;

namespace {

json TimeOrNull(const std::optional<UnixSeconds>& time) { return time ? json(*time) : json(); }

json GpusJson(const Node& node, bool kept, GpuLabels& labels) {
  json list = json::array();
  for (const GpuCount& gpus : node.gpus) {
    const GpuLabel& label = labels.Of(node, gpus.type);
    const GpuTally use = GpuTallyOf(node, gpus.type, kept);
    list.push_back({{"gpu", label.id},
                    {"gpu_name", label.name},
                    {"gres_type", gpus.type},
                    {"total", use.total},
                    {"used", use.used},
                    {"free", use.free + use.promised}});
  }
  return list;
}

bool IsSooner(const Reservation& a, const Reservation* b) {
  return b == nullptr || a.start_time.value_or(0) < b->start_time.value_or(0);
}

}  // namespace

NodeRows::NodeRows(const std::vector<const Node*>& page, const ClusterView& view,
                   const QueueStarts& starts, const Submitter& caller)
    : view_(view),
      caller_(caller),
      nodes_(WithJobs(page, view.snapshot)),
      ends_(view.queue, JobsOn(nodes_)) {
  AddPromises(starts);
  AddReservations();
}

NodeRows::Nodes NodeRows::WithJobs(const std::vector<const Node*>& page, const Snapshot& snapshot) {
  Nodes nodes;
  for (const Node* node : page) nodes[node->name];
  for (const Job& job : snapshot.jobs) {
    if (!HoldsNodes(job)) continue;
    for (const Allocation& allocation : job.allocations) {
      const auto node = nodes.find(allocation.node);
      if (node != nodes.end()) node->second.jobs.push_back({&job, &allocation});
    }
  }
  return nodes;
}

std::vector<int64_t> NodeRows::JobsOn(const Nodes& nodes) {
  std::vector<int64_t> ids;
  for (const auto& [name, of] : nodes) {
    for (const Held& held : of.jobs) ids.push_back(held.job->id);
  }
  return ids;
}

void NodeRows::AddPromises(const QueueStarts& starts) {
  for (const Job& job : view_.snapshot.jobs) {
    if (HoldsNodes(job)) continue;
    const auto start = starts.find(job.id);
    if (start == starts.end()) continue;
    for (const std::string& name : start->second.nodes) {
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) continue;
      Promise& known = node->second.promise;
      const UnixSeconds begins =
          view_.snapshot.taken_at + std::llround(start->second.Quantile(0.5));
      if (known.job == nullptr || begins < known.start) known = {&job, begins};
    }
  }
}

void NodeRows::AddReservations() {
  for (const Reservation& reservation : view_.snapshot.reservations) {
    if (reservation.end_time && *reservation.end_time <= view_.snapshot.taken_at) continue;
    for (const std::string& name : reservation.nodes) {
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) continue;
      const Reservation*& known = node->second.reservation;
      if (IsSooner(reservation, known)) known = &reservation;
    }
  }
}

/// Those that end first come first; of equal ends the lower id. `next_end`: of all, shown or not.
json NodeRows::JobsJson(const OfNode& of, const Seen& seen, json& next_end) const {
  std::vector<std::pair<UnixSeconds, const Held*>> ordered;
  for (const Held& held : of.jobs) {
    const auto end = ends_.EndOf(held.job->id);
    ordered.emplace_back(end ? end->p50 : kNever + view_.snapshot.taken_at, &held);
    if (end && (next_end.is_null() || end->p50 < next_end.get<UnixSeconds>())) next_end = end->p50;
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second->job->id) < std::tie(b.first, b.second->job->id);
  });
  json list = json::array();
  for (const auto& [at, held] : ordered) {
    const Job& job = *held->job;
    if (list.size() == kMostJobsOfNode) break;
    if (!seen.SeesOneOf(job.request.partitions)) continue;
    const bool known = MaySee(view_.snapshot, job, caller_);
    const auto end = ends_.EndOf(job.id);
    list.push_back({{"job_id", job.id},
                    {"name", known ? json(job.name) : json()},
                    {"user", known ? json(job.user) : json()},
                    {"gpus", TotalGpus(held->allocation->gpus)},
                    {"cpus", held->allocation->cpus},
                    {"start_time", TimeOrNull(job.start_time)},
                    {"end_p50", end ? json(end->p50) : json()},
                    {"end_p90", end ? json(end->p90) : json()},
                    {"end_limit", TimeOrNull(job.end_time)}});
  }
  return list;
}

json NodeRows::PromiseJson(const Promise& promise, const Seen& seen) const {
  if (promise.job == nullptr) return nullptr;
  const bool shown = seen.SeesOneOf(promise.job->request.partitions);
  return {{"job_id", shown ? json(promise.job->id) : json()}, {"start", promise.start}};
}

json NodeRows::ReservationJson(const Reservation* reservation) const {
  if (reservation == nullptr) return nullptr;
  const bool is_private = HasFlag(view_.snapshot.config.private_data, "reservations");
  return {{"name", is_private && caller_.uid != 0 ? json() : json(reservation->name)},
          {"start", TimeOrNull(reservation->start_time)},
          {"end", TimeOrNull(reservation->end_time)}};
}

json NodeRows::RowOf(const Node& node, const Seen& seen, const KeptNodes& kept,
                     GpuLabels& labels) const {
  const OfNode& of = nodes_.at(node.name);
  const bool is_kept = kept.contains(node.name);
  json next_end;
  json jobs = JobsJson(of, seen, next_end);
  return {{"name", node.name},
          {"state", ToString(node.state)},
          {"condition", NameOf(UseOf(node, is_kept))},
          {"reason", node.reason},
          {"partitions", seen.SeenOf(labels.PartitionsOf(node.name))},
          {"features", node.features},
          {"cpus", node.cpus},
          {"cpus_allocated", node.cpus_allocated},
          {"memory_mib", node.memory_mib},
          {"memory_allocated_mib", node.memory_allocated_mib},
          {"shards", node.shards},
          {"shards_allocated", node.shards_allocated},
          {"gpus", GpusJson(node, is_kept, labels)},
          {"jobs", std::move(jobs)},
          {"jobs_total", of.jobs.size()},
          {"next_end_p50", std::move(next_end)},
          {"promised", PromiseJson(of.promise, seen)},
          {"reserved", ReservationJson(of.reservation)}};
}

}  // namespace gpuadvise
