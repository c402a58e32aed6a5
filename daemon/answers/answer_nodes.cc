// GET /v1/nodes: the nodes that a filter leaves, a page of them as rows.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/api/nodes.h"
#include "common/forecast/job_ends.h"
#include "common/forecast/queue_starts.h"
#include "common/gpu/gpu_labels.h"
#include "common/scheduler/node_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"
#include "common/slurm/policy.h"
#include "daemon/answers/job_json.h"
#include "daemon/answers/node_match.h"
#include "daemon/answers/pool_counts.h"
#include "daemon/answers/views.h"
#include "daemon/answers/visibility.h"

namespace gpuadvise::daemon {

namespace {

std::vector<api::NodeGpus> GpusOf(const Node& node, bool kept, GpuLabels& labels) {
  std::vector<api::NodeGpus> list;
  for (const GpuCount& gpus : node.gpus) {
    const GpuLabel& label = labels.LabelOf(node, gpus.type);
    const GpuTally use = GpuTallyOf(node, gpus.type, kept);
    list.push_back({label.id, label.name, gpus.type, use.total, use.used, use.free + use.promised});
  }
  return list;
}

bool IsSooner(const Reservation& a, const Reservation* b) {
  return b == nullptr || a.start_time.value_or(0) < b->start_time.value_or(0);
}

// One node of `GET /v1/nodes` as JSON: its GPUs, the jobs on it with when they end, whom it is
// promised to, what it is reserved for.
//
// Made for the nodes of one page in O(jobs + reservations), then a row each; lives no longer than
// its context. See docs/api.md for the members.
class NodeRows {
 public:
  NodeRows(const std::vector<const Node*>& page, const AdviceContext& context,
           const QueueStarts& starts, const Submitter& caller);

  // REQUIRES: `node` is one of the page.
  api::ClusterNode RowOf(const Node& node, const Visibility& seen, const KeptNodes& kept,
                         const IdleAllocated& idle, GpuLabels& labels) const;

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
  void AddJobs(const OfNode& of, const Visibility& seen, api::ClusterNode& row) const;
  api::NodeReservation ReservationOf(const Reservation& reservation) const;

  const AdviceContext& context_;
  const Submitter& caller_;
  Nodes nodes_;
  const JobEnds ends_;
};

NodeRows::NodeRows(const std::vector<const Node*>& page, const AdviceContext& context,
                   const QueueStarts& starts, const Submitter& caller)
    : context_(context),
      caller_(caller),
      nodes_(WithJobs(page, context.snapshot)),
      ends_(context.queue, JobsOn(nodes_)) {
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
  for (const Job& job : context_.snapshot.jobs) {
    if (HoldsNodes(job)) continue;
    const auto start = starts.find(job.id);
    if (start == starts.end()) continue;
    for (const std::string& name : start->second.nodes) {
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) continue;
      Promise& known = node->second.promise;
      const UnixSeconds begins =
          context_.snapshot.taken_at + std::llround(start->second.Quantile(0.5));
      if (known.job == nullptr || begins < known.start) known = {&job, begins};
    }
  }
}

void NodeRows::AddReservations() {
  for (const Reservation& reservation : context_.snapshot.reservations) {
    if (reservation.end_time && *reservation.end_time <= context_.snapshot.taken_at) continue;
    for (const std::string& name : reservation.nodes) {
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) continue;
      const Reservation*& known = node->second.reservation;
      if (IsSooner(reservation, known)) known = &reservation;
    }
  }
}

// Those that end first come first; of equal ends the lower id. `next_end_p50`: of all, shown or
// not.
void NodeRows::AddJobs(const OfNode& of, const Visibility& seen, api::ClusterNode& row) const {
  std::vector<std::pair<UnixSeconds, const Held*>> ordered;
  for (const Held& held : of.jobs) {
    const auto end = ends_.EndOf(held.job->id);
    ordered.emplace_back(end ? end->p50 : kNever + context_.snapshot.taken_at, &held);
    if (end && end->p50 < row.next_end_p50.value_or(end->p50 + 1)) row.next_end_p50 = end->p50;
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second->job->id) < std::tie(b.first, b.second->job->id);
  });
  for (const auto& [at, held] : ordered) {
    const Job& job = *held->job;
    if (row.jobs.size() == kMostJobsOfNode) break;
    if (!seen.SeesOneOf(job.request.partitions)) continue;
    api::NodeJob& one = row.jobs.emplace_back();
    one.job_id = job.id;
    if (MaySee(context_.snapshot, job, caller_)) {
      one.name = job.name;
      one.user = job.user;
    }
    one.gpus = TotalGpus(held->allocation->gpus);
    one.cpus = held->allocation->cpus;
    one.start_time = job.start_time;
    if (const auto end = ends_.EndOf(job.id)) {
      one.end_p50 = end->p50;
      one.end_p90 = end->p90;
    }
    one.end_limit = job.end_time;
  }
  row.jobs_total = static_cast<int64_t>(of.jobs.size());
}

api::NodeReservation NodeRows::ReservationOf(const Reservation& reservation) const {
  api::NodeReservation row{std::nullopt, reservation.start_time, reservation.end_time};
  const bool is_private = HasFlag(context_.snapshot.config.private_data, "reservations");
  if (!is_private || caller_.uid == 0) row.name = reservation.name;
  return row;
}

api::ClusterNode NodeRows::RowOf(const Node& node, const Visibility& seen, const KeptNodes& kept,
                                 const IdleAllocated& idle, GpuLabels& labels) const {
  const OfNode& of = nodes_.at(node.name);
  const bool is_kept = kept.contains(node.name);
  api::ClusterNode row;
  row.name = node.name;
  row.state = ToString(node.state);
  row.condition = NameOf(UseOf(node, is_kept));
  if (caller_.uid >= 0) {  // admins write names into it
    row.reason = node.reason;
    row.reason_user = node.reason_user;
  }
  row.since = node.reason_time;
  row.partitions = seen.SeenOf(labels.PartitionsOf(node.name));
  row.features = node.features;
  row.cpus = node.cpus;
  row.cpus_allocated = node.cpus_allocated;
  row.memory_mib = node.memory_mib;
  row.memory_allocated_mib = node.memory_allocated_mib;
  row.shards = node.shards;
  row.shards_allocated = node.shards_allocated;
  row.gpus = GpusOf(node, is_kept, labels);
  AddJobs(of, seen, row);
  if (const auto found = idle.find(node.name); found != idle.end()) {
    row.idle_allocated = found->second;
  }
  if (const Job* job = of.promise.job) {
    row.promised.emplace().start = of.promise.start;
    if (seen.SeesOneOf(job->request.partitions)) row.promised->job_id = job->id;
  }
  if (of.reservation != nullptr) row.reserved = ReservationOf(*of.reservation);
  return row;
}

std::vector<api::NodeGroup> GroupsOf(const std::vector<PoolCount>& pools) {
  std::vector<api::NodeGroup> groups;
  for (const PoolCount& pool : pools) {
    groups.push_back({pool.partition, pool.gpu.id, pool.gpu.name, pool.nodes, pool.gpus.total,
                      pool.gpus.free, pool.gpus.used, pool.gpus.promised, pool.gpus.unavailable});
  }
  return groups;
}

std::optional<api::IdleAllocated> IdleAllocatedOf(const Snapshot& snapshot,
                                                  const IdleAllocated& idle, const Visibility& seen,
                                                  const Submitter& caller, GpuLabels& labels) {
  const SchedulerConfig& config = snapshot.config;
  if (!config.counts_idle_gpus && config.idle_gpus_problem.empty()) return std::nullopt;
  api::IdleAllocated sum;
  for (const auto& [node, gpus] : idle) {
    if (!seen.SeesOneOf(labels.PartitionsOf(std::string(node)))) continue;
    ++sum.nodes;
    sum.gpus += gpus;
  }
  if (!config.counts_idle_gpus) {
    sum.problem = caller.uid >= 0 ? config.idle_gpus_problem : "not known";
  }
  return sum;
}

std::vector<api::BrokenGpus> BrokenOf(const Snapshot& snapshot, const Visibility& seen,
                                      const KeptNodes& kept, GpuLabels& labels) {
  std::vector<api::BrokenGpus> rows;
  const auto add = [&](const GpuLabel& gpu, const GpuTally& use) {
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const api::BrokenGpus& known) { return known.gpu == gpu.id; });
    if (row == rows.end()) row = rows.insert(row, {gpu.id, gpu.name, 0, 0, 0});
    ++row->nodes;
    row->gpus += use.total;
    row->lost += use.total - use.used;
  };
  for (const Node& node : snapshot.nodes) {
    const bool is_kept = kept.contains(node.name);
    if (!IsBroken(UseOf(node, is_kept)) || !seen.SeesOneOf(labels.PartitionsOf(node.name)))
      continue;
    if (node.gpus.empty()) add({}, {});
    for (const GpuCount& gpus : node.gpus) {
      add(labels.LabelOf(node, gpus.type), GpuTallyOf(node, gpus.type, is_kept));
    }
  }
  return rows;
}

}  // namespace

nlohmann::json AnswerNodes(const NodesFilter& filter, const AdviceContext& context,
                           const QueueStarts& starts, const Submitter& caller) {
  const Snapshot& snapshot = context.snapshot;
  GpuLabels labels(snapshot, context.gpus);
  const Visibility seen(snapshot, caller);
  const KeptNodes kept = NodesKeptNow(snapshot);
  const bool nodes_are_private = HasFlag(snapshot.config.private_data, "nodes") && caller.uid != 0;
  NodesFilter asked = filter;
  if (nodes_are_private)
    asked.search = asked.node = "";  // what they find would tell of single nodes
  MatchingNodes matching = MatchNodes(snapshot, asked, seen, caller, kept, labels);
  api::Nodes answer;
  answer.groups = GroupsOf(CountPools(snapshot, seen, kept, labels));
  answer.broken = BrokenOf(snapshot, seen, kept, labels);
  answer.idle_allocated = IdleAllocatedOf(snapshot, matching.idle_allocated, seen, caller, labels);
  const auto& [free, partly, busy, promised, drained, down] = matching.conditions;
  answer.conditions = {free, partly, busy, promised, drained, down};
  if (nodes_are_private) matching.nodes.clear();
  const std::vector<const Node*> page = matching.PageOf(filter, kMostNodes);
  const NodeRows rows(page, context, starts, caller);
  for (const Node* node : page)
    answer.nodes.push_back(rows.RowOf(*node, seen, kept, matching.idle_allocated, labels));
  answer.total = static_cast<int64_t>(matching.nodes.size());
  answer.offset = static_cast<int64_t>(filter.offset);
  nlohmann::json document = ToJson(answer);
  if (nodes_are_private) {
    document["warnings"] = {
        "this site keeps its nodes private (PrivateData): only counts are shown"};
  }
  return document;
}

}  // namespace gpuadvise::daemon
