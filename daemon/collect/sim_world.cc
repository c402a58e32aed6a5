#include "daemon/collect/sim_world.h"

#include <algorithm>
#include <cmath>

#include "daemon/collect/sim_cluster.h"

namespace gpuadvise::collect {
namespace {

// Priority of the first job under priority/basic; each later job gets one less.
constexpr int64_t kFirstBasicPriority = 4294901760;

std::vector<Node> SelectNodes(const std::vector<Node>& nodes, const std::string& gpu_type) {
  std::vector<Node> found;
  for (const Node& node : nodes) {
    if (node.gpus.front().type == gpu_type) found.push_back(node);
  }
  return found;
}

UnixSeconds After(UnixSeconds t, const PoolHabits& habits, Rng& rng) {
  return t + 1 + std::llround(rng.Exponential(3600 / habits.arrivals_per_hour));
}

// Adds the queue with squeue's reasons: Resources for the head, Priority for the others.
void AppendQueue(const SimPool& pool, UnixSeconds now, std::vector<Job>& jobs) {
  for (const SimJob& pending : pool.queue()) {
    jobs.push_back(pending.job);
    jobs.back().reason = "Priority";
  }
  if (pool.queue().empty()) return;
  Job& head = jobs[jobs.size() - pool.queue().size()];
  head.reason = "Resources";
  head.start_time = pool.PromiseToHead(now).start;
}

// Marks idle nodes that backfill has reserved for the head of the queue.
void AppendNodes(const SimPool& pool, UnixSeconds now, std::vector<Node>& nodes) {
  const size_t first = nodes.size();
  nodes.insert(nodes.end(), pool.nodes().begin(), pool.nodes().end());
  if (pool.queue().empty()) return;
  for (const Allocation& part : pool.PromiseToHead(now).where) {
    for (size_t i = first; i < nodes.size(); ++i) {
      const bool promised = nodes[i].name == part.node && nodes[i].state.base == NodeBase::kIdle;
      if (promised) nodes[i].state.Add(NodeFlag::kPlanned);
    }
  }
}

}  // namespace

SimWorld::SimWorld(uint64_t seed, UnixSeconds begin)
    : cluster_(SeedCluster()), users_(SeedUsers(seed)), now_(begin) {
  for (const PoolHabits& habits : SeedHabits()) {
    Rng rng(seed * SeedHabits().size() + parts_.size() + 1);
    const UnixSeconds first = After(begin, habits, rng);
    parts_.push_back({&habits, SimPool(SelectNodes(cluster_.nodes, habits.gpu_type)), rng, first});
  }
}

void SimWorld::AdvanceTo(UnixSeconds t) {
  while (true) {
    const auto next = std::min_element(
        parts_.begin(), parts_.end(),
        [this](const Part& a, const Part& b) { return NextEvent(a) < NextEvent(b); });
    const UnixSeconds event = NextEvent(*next);
    const auto first = outside_.begin();
    if (first != outside_.end() && first->first <= std::min(event, t)) {
      Take(std::move(first->second), first->first);
      outside_.erase(first);
      continue;
    }
    if (event > t) break;
    Step(*next, event);
  }
  now_ = std::max(now_, t);
}

void SimWorld::Submit(SimJob job) {
  const UnixSeconds at = std::max(now_, job.job.submit_time.value());
  outside_.emplace(at, Outside{std::move(job), 0});
}

void SimWorld::End(int64_t job_id, UnixSeconds at) {
  outside_.emplace(std::max(now_, at), Outside{{}, job_id});
}

void SimWorld::Take(Outside event, UnixSeconds t) {
  for (Part& part : parts_) {
    if (event.submitted) {
      const JobRequest& request = event.submitted->job.request;
      if (request.gpus_per_node.front().type != part.habits->gpu_type) continue;
      if (!part.pool.CouldRun(request)) return;
      event.submitted->job.priority = kFirstBasicPriority - next_job_id_++;
      part.pool.Submit(*std::move(event.submitted));
    } else if (!part.pool.EndJob(event.ended)) {
      continue;
    }
    part.pool.EndJobs(t);
    part.pool.StartWhatFits(t);
    return;
  }
}

UnixSeconds SimWorld::NextEvent(const Part& part) const {
  return std::min(part.next_arrival, part.pool.NextEnd().value_or(part.next_arrival));
}

void SimWorld::Step(Part& part, UnixSeconds t) {
  part.pool.EndJobs(t);
  if (part.next_arrival == t) Arrive(part, t);
  part.pool.StartWhatFits(t);
}

void SimWorld::Arrive(Part& part, UnixSeconds t) {
  part.next_arrival = After(t, *part.habits, part.rng);
  const bool comes = part.rng.Chance(HourFactor(t));
  std::vector<SimJob> burst =
      DrawBurst(*part.habits, users_, part.pool.nodes().front(), t, part.rng);
  if (!comes) return;
  for (SimJob& job : burst) {
    if (part.pool.BacklogHours() > part.habits->patience_hours) return;
    job.job.id = next_job_id_++;
    job.job.priority = kFirstBasicPriority - job.job.id;
    part.pool.Submit(std::move(job));
  }
}

Snapshot SimWorld::TakeSnapshot() const {
  Snapshot snapshot = cluster_;
  snapshot.taken_at = now_;
  snapshot.nodes.clear();
  for (const Part& part : parts_) {
    AppendNodes(part.pool, now_, snapshot.nodes);
    for (const SimJob& running : part.pool.running()) snapshot.jobs.push_back(running.job);
    AppendQueue(part.pool, now_, snapshot.jobs);
  }
  std::sort(snapshot.nodes.begin(), snapshot.nodes.end(),
            [](const Node& a, const Node& b) { return a.name < b.name; });
  std::sort(snapshot.jobs.begin(), snapshot.jobs.end(),
            [](const Job& a, const Job& b) { return a.id < b.id; });
  return snapshot;
}

}  // namespace gpuadvise::collect
