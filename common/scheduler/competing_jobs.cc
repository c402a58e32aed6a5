#include "common/scheduler/competing_jobs.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "common/scheduler/queue_jobs.h"

namespace gpuadvise {
namespace {

std::vector<int32_t> GroupsOf(const PendingJob& job) {
  std::vector<int32_t> groups;
  for (const PartitionOption& option : job.options) {
    for (const GroupDemand& demand : option.requirements->demands) groups.push_back(demand.group);
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

// Whether two ascending lists share an element.
bool Meet(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) return true;
    a[i] < b[k] ? ++i : ++k;
  }
  return false;
}

}  // namespace

RivalCounter::RivalCounter(const std::vector<PendingJob>& pending) {
  std::map<std::vector<int32_t>, size_t> kind_of_groups;
  std::unordered_map<const GroupRequirements*, size_t> kind_of_shape;
  const auto kind_of = [&](const PendingJob& job) {
    const auto [kind, added] = kind_of_groups.try_emplace(GroupsOf(job), kinds_.size());
    if (added) kinds_.push_back({kind->first, {}, 0});
    return kind->second;
  };
  for (const PendingJob& job : pending) {
    size_t kind = 0;
    if (job.options.size() == 1) {
      const auto [known, added] =
          kind_of_shape.try_emplace(job.options.front().requirements.get(), 0);
      if (added) known->second = kind_of(job);
      kind = known->second;
    } else {
      kind = kind_of(job);
    }
    kinds_[kind].ranks.push_back(job.rank);
    if (job.held) ++kinds_[kind].held;
    own_.push_back({job.id, kind, job.rank, job.held});
  }
  std::stable_sort(own_.begin(), own_.end(),
                   [](const Own& a, const Own& b) { return a.id < b.id; });
}

CompetingJobs RivalCounter::Of(const PendingJob& job) const {
  CompetingJobs rivals;
  const std::vector<int32_t> groups = GroupsOf(job);
  std::vector<bool> meets;
  for (const Kind& kind : kinds_) {
    meets.push_back(Meet(groups, kind.groups));
    if (!meets.back()) continue;
    rivals.competing += static_cast<int64_t>(kind.ranks.size());
    rivals.before +=
        std::lower_bound(kind.ranks.begin(), kind.ranks.end(), job.rank) - kind.ranks.begin();
    rivals.held += kind.held;
  }
  if (job.replaces_job == 0) return rivals;
  auto own = std::lower_bound(own_.begin(), own_.end(), job.replaces_job,
                              [](const Own& each, int64_t id) { return each.id < id; });
  for (; own != own_.end() && own->id == job.replaces_job; ++own) {  // tasks of an array
    if (!meets[own->kind]) continue;
    --rivals.competing;
    if (own->rank < job.rank) --rivals.before;
    if (own->held) --rivals.held;
  }
  return rivals;
}

std::vector<int64_t> JobsAheadOf(int64_t id, const std::vector<PendingJob>& pending, size_t most) {
  std::vector<int64_t> ahead;
  const auto own = std::find_if(pending.begin(), pending.end(),
                                [&](const PendingJob& job) { return job.id == id; });
  if (own == pending.end()) return ahead;
  const std::vector<int32_t> groups = GroupsOf(*own);
  for (const PendingJob& job : pending) {
    if (ahead.size() == most || !(job.rank < own->rank)) break;
    const bool known = std::find(ahead.begin(), ahead.end(), job.id) != ahead.end();
    if (!known && Meet(GroupsOf(job), groups)) ahead.push_back(job.id);
  }
  return ahead;
}

}  // namespace gpuadvise
