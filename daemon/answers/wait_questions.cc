#include "daemon/answers/wait_questions.h"

#include <algorithm>
#include <utility>

namespace gpuadvise::daemon {
namespace {

bool AreTheSame(const Partition& a, const Partition& b) {
  if (a.nodes != b.nodes) return false;
  Partition like_a = b;
  like_a.name = a.name;
  like_a.is_default = a.is_default;
  return like_a == a;
}

JobRequest RequestFor(const GpuPool& pool, const PoolSelector& selector, const WaitShape& shape) {
  JobRequest request;
  request.partitions = {pool.partition->name};
  request.nodes_min = shape.nodes;
  request.tasks = shape.nodes;
  request.cpus = shape.nodes;
  request.gpus_per_node = {{pool.gres_type, shape.gpus_per_node}};
  request.features = selector.constraint;
  request.excluded_nodes = selector.exclude;
  request.time_limit_seconds = shape.time_limit_seconds;
  return request;
}

PoolWait WaitFrom(const Result<StartSamples>& start) {
  PoolWait wait;
  if (!start) {
    wait.why_not = start.error().message;
    return wait;
  }
  wait.p10 = start->Quantile(0.1);
  wait.p50 = start->Quantile(0.5);
  wait.p90 = start->Quantile(0.9);
  wait.mean = start->Mean();
  wait.samples = start->wait_seconds.size();
  return wait;
}

}  // namespace

WaitQuestions::WaitQuestions(const std::vector<GpuPool>& pools, size_t most_pools) : pools_(pools) {
  for (size_t i = 0; i < pools.size(); ++i) {
    std::vector<size_t>& asked = asked_[pools[i].Id()];
    const bool known = std::any_of(asked.begin(), asked.end(), [&](size_t other) {
      return pools[other].gres_type == pools[i].gres_type &&
             AreTheSame(*pools[other].partition, *pools[i].partition);
    });
    if (!known) asked.push_back(i);
  }
  for (auto& [id, asked] : asked_) {
    if (asked.size() <= most_pools) continue;
    std::stable_sort(asked.begin(), asked.end(), [&](size_t a, size_t b) {
      return pools[a].usable_gpus > pools[b].usable_gpus;
    });
    asked.resize(most_pools);
  }
}

const std::vector<size_t>& WaitQuestions::PoolsOf(const std::string& id) const {
  return asked_.at(id);
}

void WaitQuestions::Ask(const AdviceContext& context, const Submitter& caller) {
  std::map<size_t, PoolSelector> selectors;
  std::vector<std::pair<const std::pair<size_t, WaitShape>, PoolWait>*> all;
  for (auto& each : answers_) {
    const size_t pool = each.first.first;
    if (!selectors.contains(pool)) selectors[pool] = MakeSelector(pools_[pool], pools_);
    all.push_back(&each);
  }
  context.for_each(all.size(), [&](size_t i) {
    const auto& [pool, shape] = all[i]->first;
    const JobRequest request = RequestFor(pools_[pool], selectors.at(pool), shape);
    all[i]->second = WaitFrom(StartOf(context.queue, request, caller, context.Samples()));
  });
}

size_t WaitQuestions::Samples() const {
  size_t most = 0;
  for (const auto& [question, wait] : answers_) most = std::max(most, wait.samples);
  return most;
}

}  // namespace gpuadvise::daemon
