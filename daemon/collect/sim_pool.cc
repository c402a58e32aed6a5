#include "daemon/collect/sim_pool.h"

#include <algorithm>
#include <cassert>

namespace gpuadvise::collect {
namespace {

int64_t AllocatedGpus(const Node& node) {
  return node.gpus_allocated.empty() ? 0 : node.gpus_allocated.front().count;
}
int64_t FreeGpus(const Node& node) { return node.gpus.front().count - AllocatedGpus(node); }

// Resources of `request` on each of its nodes.
Allocation Share(const JobRequest& request) {
  Allocation share;
  share.cpus = request.cpus / request.nodes_min;
  share.memory_mib = request.memory_per_node_mib.value();
  share.gpus = request.gpus_per_node;
  return share;
}

bool Fits(const Node& node, const Allocation& share) {
  return FreeGpus(node) >= share.gpus.front().count &&
         node.cpus - node.cpus_allocated >= share.cpus &&
         node.memory_mib - node.memory_allocated_mib >= share.memory_mib;
}

NodeBase BaseState(const Node& node) {
  if (node.cpus_allocated == 0) return NodeBase::kIdle;
  return node.cpus_allocated == node.cpus ? NodeBase::kAllocated : NodeBase::kMixed;
}

// Allocates (`sign` 1) or frees (-1) `where` on `nodes`.
void Book(std::vector<Node>& nodes, const std::vector<Allocation>& where, int sign) {
  for (const Allocation& part : where) {
    const auto node = std::find_if(nodes.begin(), nodes.end(),
                                   [&](const Node& n) { return n.name == part.node; });
    assert(node != nodes.end());
    node->cpus_allocated += sign * part.cpus;
    node->memory_allocated_mib += sign * part.memory_mib;
    const int64_t gpus = AllocatedGpus(*node) + sign * part.gpus.front().count;
    node->gpus_allocated.clear();
    if (gpus > 0) node->gpus_allocated.push_back({part.gpus.front().type, gpus});
    node->state.base = BaseState(*node);
  }
}

UnixSeconds RealEnd(const SimJob& running) {
  return running.job.start_time.value() + running.run_seconds;
}
UnixSeconds LimitEnd(const SimJob& running) { return running.job.end_time.value(); }

int64_t LimitSeconds(const SimJob& job) { return job.job.request.time_limit_seconds.value(); }

}  // namespace

std::vector<Allocation> GroupDemand(const std::vector<Node>& nodes, const JobRequest& request) {
  const Allocation share = Share(request);
  std::vector<const Node*> fitting;
  for (const Node& node : nodes) {
    if (Fits(node, share)) fitting.push_back(&node);
  }
  if (static_cast<int64_t>(fitting.size()) < request.nodes_min) return {};
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const Node* a, const Node* b) { return FreeGpus(*a) < FreeGpus(*b); });
  fitting.resize(static_cast<size_t>(request.nodes_min));
  std::vector<Allocation> where;
  for (const Node* node : fitting) {
    where.push_back(share);
    where.back().node = node->name;
  }
  std::sort(where.begin(), where.end(),
            [](const Allocation& a, const Allocation& b) { return a.node < b.node; });
  return where;
}

std::optional<UnixSeconds> SimPool::NextEnd() const {
  std::optional<UnixSeconds> next;
  for (const SimJob& job : running_) next = std::min(next.value_or(RealEnd(job)), RealEnd(job));
  return next;
}

void SimPool::EndJobs(UnixSeconds now) {
  for (const SimJob& job : running_) {
    if (RealEnd(job) <= now) Book(nodes_, job.job.allocations, -1);
  }
  std::erase_if(running_, [now](const SimJob& job) { return RealEnd(job) <= now; });
}

bool SimPool::EndJob(int64_t id) {
  const auto is_it = [id](const SimJob& job) { return job.job.id == id; };
  const auto running = std::find_if(running_.begin(), running_.end(), is_it);
  if (running == running_.end()) return std::erase_if(queue_, is_it) > 0;
  Book(nodes_, running->job.allocations, -1);
  running_.erase(running);
  return true;
}

bool SimPool::CouldRun(const JobRequest& request) const {
  std::vector<Node> idle = nodes_;
  for (const SimJob& job : running_) Book(idle, job.job.allocations, -1);
  return !GroupDemand(idle, request).empty();
}

void SimPool::StartWhatFits(UnixSeconds now) {
  while (!queue_.empty()) {
    std::vector<Allocation> where = GroupDemand(nodes_, queue_.front().job.request);
    if (where.empty()) break;
    Start(std::move(queue_.front()), std::move(where), now);
    queue_.pop_front();
  }
  if (queue_.empty()) return;
  const Promise promise = PromiseToHead(now);
  for (size_t i = 1; i < queue_.size();) {
    std::vector<Allocation> where = GroupDemand(nodes_, queue_[i].job.request);
    if (where.empty() || !KeepsPromise(queue_[i], where, promise, now)) {
      ++i;
      continue;
    }
    Start(std::move(queue_[i]), std::move(where), now);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

SimPool::Promise SimPool::PromiseToHead(UnixSeconds now) const {
  const JobRequest& request = queue_.front().job.request;
  std::vector<const SimJob*> by_end;
  for (const SimJob& job : running_) by_end.push_back(&job);
  std::sort(by_end.begin(), by_end.end(),
            [](const SimJob* a, const SimJob* b) { return LimitEnd(*a) < LimitEnd(*b); });
  std::vector<Node> later = nodes_;
  Promise promise{now, GroupDemand(later, request)};
  for (auto job = by_end.begin(); promise.where.empty() && job != by_end.end(); ++job) {
    Book(later, (*job)->job.allocations, -1);
    promise = {LimitEnd(**job), GroupDemand(later, request)};
  }
  assert(!promise.where.empty());
  return promise;
}

bool SimPool::KeepsPromise(const SimJob& job, const std::vector<Allocation>& where,
                           const Promise& promise, UnixSeconds now) const {
  if (now + LimitSeconds(job) <= promise.start) return true;
  std::vector<Node> later = nodes_;
  Book(later, where, 1);
  for (const SimJob& other : running_) {
    if (LimitEnd(other) <= promise.start) Book(later, other.job.allocations, -1);
  }
  return !GroupDemand(later, queue_.front().job.request).empty();
}

void SimPool::Start(SimJob job, std::vector<Allocation> where, UnixSeconds now) {
  Book(nodes_, where, 1);
  job.job.state = JobState::kRunning;
  job.job.start_time = now;
  job.job.end_time = now + LimitSeconds(job);
  job.job.allocations = std::move(where);
  running_.push_back(std::move(job));
}

double SimPool::BacklogHours() const {
  double gpu_seconds = 0;
  for (const SimJob& job : queue_) {
    const JobRequest& request = job.job.request;
    gpu_seconds += static_cast<double>(request.nodes_min * request.gpus_per_node.front().count *
                                       LimitSeconds(job));
  }
  const auto gpus =
      static_cast<double>(nodes_.size()) * static_cast<double>(nodes_.front().gpus.front().count);
  return gpu_seconds / 3600 / gpus;
}

}  // namespace gpuadvise::collect
