#include "common/history/node_past.h"

#include <algorithm>
#include <utility>

#include "common/slurm/gres.h"

namespace gpuadvise {

void NodePast::See(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  if (known_since_ && snapshot.taken_at < now_) return;
  if (!known_since_) known_since_ = snapshot.taken_at;
  now_ = snapshot.taken_at;
  ++snapshots_;
  for (const Job& job : snapshot.jobs) {
    if (job.allocations.empty() || !job.start_time) continue;
    Running& known = running_[job.id];
    if (known.seen != 0 && known.run.start == *job.start_time) {
      known.seen = snapshots_;
      continue;
    }
    if (known.seen != 0) Keep(known, std::min(now_, *job.start_time));  // it was requeued
    const JobFacts facts{job.id, job.uid, job.user, job.request.partitions};
    known = {{std::make_shared<const JobFacts>(facts), 0, *job.start_time, 0}, {}, snapshots_};
    for (const Allocation& part : job.allocations) {
      if (const int64_t gpus = TotalGpus(part.gpus); gpus > 0) {
        known.gpus.emplace_back(part.node, gpus);
      }
    }
  }
  for (auto job = running_.begin(); job != running_.end();) {
    const bool gone = job->second.seen != snapshots_;
    if (gone) Keep(job->second, now_);
    job = gone ? running_.erase(job) : std::next(job);
  }
  Forget(now_);
}

void NodePast::Keep(const Running& ended, UnixSeconds at) {
  for (const auto& [node, gpus] : ended.gpus) {
    NodeRun run = ended.run;
    run.gpus = gpus;
    run.end = std::max(at, run.start);
    past_[node].push_back(std::move(run));
    order_.push_back(node);
  }
}

void NodePast::Forget(UnixSeconds now) {
  while (!order_.empty()) {
    const auto node = past_.find(order_.front());
    const bool too_many = order_.size() > kMostRuns;
    if (!too_many && node->second.front().end >= now - kKeptSeconds) break;
    node->second.pop_front();
    if (node->second.empty()) past_.erase(node);
    order_.pop_front();
  }
}

std::vector<NodeRun> NodePast::On(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = past_.find(node);
  if (found == past_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::optional<UnixSeconds> NodePast::known_since() const {
  const std::lock_guard lock(mutex_);
  return known_since_;
}

}  // namespace gpuadvise
