#include "common/scheduler/simulated_nodes.h"

#include <algorithm>
#include <functional>

#include "common/base/job_random.h"

namespace gpuadvise {
namespace {

constexpr int64_t kFirstStride = 30;  // seconds
constexpr size_t kLikelyStarts = 64;  // in a sample of a short queue

// Identifies one job on a node; a node's jobs are summed.
uint64_t ContentOf(const ActiveJob& job) {
  return MixBits(static_cast<uint64_t>(job.id) * 1'000'003 + static_cast<uint64_t>(job.until));
}

}  // namespace

SimulatedNodes::SimulatedNodes(const QueueModel& queue, std::vector<bool> in_scope)
    : queue_(queue),
      in_scope_(std::move(in_scope)),
      plan_(queue.groups(),
            queue.by_time_limit() ? GroupPlan::Grid::kExact : GroupPlan::Grid::kCoarse) {
  const size_t likely = queue.running().size() + kLikelyStarts;
  actives_.reserve(likely);
  unsorted_.reserve(likely);
  held_.reserve(likely);
  ends_.reserve(likely);
  Restart();
}

void SimulatedNodes::Restart() {
  free_ = queue_.free_now();
  contents_.assign(free_.size(), 0);
  cap_use_ = queue_.cap_use();
  up_at_.clear();
  if (queue_.pool().has_boots()) {
    for (const NodeGroup& group : queue_.groups().groups()) {
      const bool is_down = group.boot_seconds > 0 && !group.boots;
      up_at_.push_back(is_down ? kNever : group.boot_seconds);
    }
  }
  actives_.clear();
  held_.clear();
  gone_.clear();
  ends_.clear();
  by_until_.clear();
  unsorted_.clear();
}

HeldRange SimulatedNodes::Hold(const std::vector<HeldNodes>& held) {
  const HeldRange range{static_cast<uint32_t>(held_.size()), static_cast<uint32_t>(held.size())};
  held_.insert(held_.end(), held.begin(), held.end());
  return range;
}

HeldRange SimulatedNodes::Hold(const PartitionOption& option, const GroupSlot& slot) {
  const HeldRange range{static_cast<uint32_t>(held_.size()),
                        static_cast<uint32_t>(slot.nodes.size())};
  for (const GroupAllocation& allocation : slot.nodes) {
    const GroupDemand& demand =
        option.requirements->demands[static_cast<size_t>(allocation.demand)];
    held_.push_back({demand.group, static_cast<int32_t>(allocation.nodes), &demand.each});
  }
  return range;
}

void SimulatedNodes::Start(const ActiveJob& job) {
  for (const HeldNodes& held : Held(job)) {
    free_[static_cast<size_t>(held.group)] -= held.amount();
  }
  for (const LimitUse& use : *job.caps) cap_use_[static_cast<size_t>(use.cap)] += use.amount;
  Resume(job);
}

void SimulatedNodes::Resume(const ActiveJob& job) {
  for (const HeldNodes& held : Held(job)) {
    contents_[static_cast<size_t>(held.group)] += ContentOf(job);
  }
  const size_t index = actives_.size();
  ends_.emplace_back(job.end, index);
  std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
  unsorted_.push_back({job.until, index, job.held});
  actives_.push_back(job);
  gone_.push_back(false);
}

int64_t SimulatedNodes::NextEnd() {
  while (!ends_.empty() && gone_[ends_.front().second]) PopEnd();
  return ends_.empty() ? kNever : ends_.front().first;
}

void SimulatedNodes::PopEnd() {
  std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
  ends_.pop_back();
}

void SimulatedNodes::Remove(size_t index) {
  const ActiveJob& job = actives_[index];
  gone_[index] = true;
  for (const HeldNodes& held : Held(job)) {
    free_[static_cast<size_t>(held.group)] += held.amount();
    contents_[static_cast<size_t>(held.group)] -= ContentOf(job);
  }
  for (const LimitUse& use : *job.caps) cap_use_[static_cast<size_t>(use.cap)] -= use.amount;
}

// Updates by_until_ in one go: a long list is not moved at each start and end.
void SimulatedNodes::SortByUntil() {
  std::erase_if(by_until_, [&](const Limit& limit) { return gone_[limit.index]; });
  std::erase_if(unsorted_, [&](const Limit& limit) { return gone_[limit.index]; });
  std::sort(unsorted_.begin(), unsorted_.end());
  const auto middle = static_cast<std::ptrdiff_t>(by_until_.size());
  by_until_.insert(by_until_.end(), unsorted_.begin(), unsorted_.end());
  std::inplace_merge(by_until_.begin(), by_until_.begin() + middle, by_until_.end());
  unsorted_.clear();
}

void SimulatedNodes::EndUntil(int64_t now, const std::function<void(const ActiveJob&)>& ended) {
  while (NextEnd() <= now && !ends_.empty()) {
    const size_t index = ends_.front().second;
    PopEnd();
    Remove(index);
    ended(actives_[index]);
  }
}

bool SimulatedNodes::WithinLimits(const PendingJob& job) const {
  return std::all_of(job.caps.begin(), job.caps.end(), [&](const LimitUse& use) {
    const auto cap = static_cast<size_t>(use.cap);
    return cap_use_[cap] + use.amount <= queue_.limits().most()[cap];
  });
}

bool SimulatedNodes::WithinPolicy(const PendingJob& job) const {
  return std::all_of(job.caps.begin(), job.caps.end(), [&](const LimitUse& use) {
    const auto cap = static_cast<size_t>(use.cap);
    return !queue_.limits().IsPolicy(use.cap) ||
           cap_use_[cap] + use.amount <= queue_.limits().most()[cap];
  });
}

int64_t SimulatedNodes::LeftBy(int32_t cap) const {
  const auto index = static_cast<size_t>(cap);
  return queue_.limits().most()[index] - cap_use_[index];
}

GroupSlot SimulatedNodes::FitNow(const PartitionOption& option, int64_t now) const {
  return FitInto(free_, option, now);
}

GroupSlot SimulatedNodes::FitInto(const std::vector<Resources>& free, const PartitionOption& option,
                                  int64_t now) const {
  if (option.earliest > now || option.latest <= now) return {};
  const GroupRequirements& requirements = *option.requirements;
  int64_t nodes = 0;  // usually too few: checked before allocating
  for (const GroupDemand& demand : requirements.demands) {
    nodes += CountNow(demand, option, free[static_cast<size_t>(demand.group)], now);
    if (nodes >= requirements.nodes) break;
  }
  if (nodes < requirements.nodes) return {};
  std::vector<int64_t> counts;
  std::vector<const Resources*> there;
  counts.reserve(requirements.demands.size());
  there.reserve(requirements.demands.size());
  for (const GroupDemand& demand : requirements.demands) {
    const Resources& left = free[static_cast<size_t>(demand.group)];
    counts.push_back(CountNow(demand, option, left, now));
    there.push_back(&left);
  }
  return TakeNodes(queue_.groups(), requirements, counts, there, contents_, now);
}

// Whether a job of `priority` may preempt the given one.
bool SimulatedNodes::MayTake(const PartitionOption& option, int64_t priority, size_t index) const {
  const ActiveJob& job = actives_[index];
  return !gone_[index] && job.requeued_as != nullptr &&
         queue_.preemption().May(option.preempt_class, job.preempt_class, priority, job.priority);
}

bool SimulatedNodes::IsTakenBefore(const ActiveJob& a, const ActiveJob& b) const {
  if (queue_.scheduler().youngest_first) return a.started > b.started;
  return a.priority < b.priority || (a.priority == b.priority && a.started > b.started);
}

GroupSlot SimulatedNodes::FitByPreempting(const PartitionOption& option, int64_t priority,
                                          int64_t now) const {
  std::vector<Resources> free = free_;
  for (size_t i = 0; i < actives_.size(); ++i) {
    if (!MayTake(option, priority, i)) continue;
    for (const HeldNodes& held : Held(actives_[i])) {
      free[static_cast<size_t>(held.group)] += held.amount();
    }
  }
  return FitInto(free, option, now);
}

std::vector<ActiveJob> SimulatedNodes::Preempt(const PartitionOption& option, int64_t by,
                                               const GroupSlot& slot) {
  std::vector<ActiveJob> taken;
  for (const GroupAllocation& allocation : slot.nodes) {
    const GroupDemand& demand =
        option.requirements->demands[static_cast<size_t>(allocation.demand)];
    const auto group = static_cast<size_t>(demand.group);
    const Resources need = Times(demand.each, allocation.nodes);
    while (!Fits(need, free_[group])) {
      size_t weakest = actives_.size();
      for (size_t i = 0; i < actives_.size(); ++i) {
        if (!MayTake(option, by, i)) continue;
        const HeldSpan held = Held(actives_[i]);
        const bool there = std::any_of(held.begin(), held.end(), [&](const HeldNodes& nodes) {
          return nodes.group == demand.group;
        });
        if (!there) continue;
        if (weakest == actives_.size() || IsTakenBefore(actives_[i], actives_[weakest])) {
          weakest = i;
        }
      }
      if (weakest == actives_.size()) return taken;  // unreachable: the slot was found this way
      Remove(weakest);
      taken.push_back(actives_[weakest]);
    }
  }
  return taken;
}

int64_t SimulatedNodes::CountNow(const GroupDemand& demand, const PartitionOption& option,
                                 const Resources& free, int64_t now) const {
  const NodeGroup& group = queue_.groups().groups()[static_cast<size_t>(demand.group)];
  const int32_t own = option.requirements->reservation;
  for (const ReservedWindow& window : group.reserved) {
    if (window.reservation != own && window.Bars(now, option.duration)) return 0;
  }
  if (group.parts.empty()) return NodesThatFit(demand, group.pooled(), free);
  return NodesThatFit(demand, group.pooled(), free - SetAside(group, own, now, option.duration));
}

bool SimulatedNodes::FitsSomewhere(const PendingJob& job) const {
  return std::any_of(job.options.begin(), job.options.end(), [&](const PartitionOption& option) {
    int64_t nodes = 0;
    for (const GroupDemand& demand : option.requirements->demands) {
      const auto group = static_cast<size_t>(demand.group);
      nodes += NodesThatFit(demand, queue_.groups().groups()[group].pooled(), free_[group]);
      if (nodes >= option.requirements->nodes) return true;
    }
    return false;
  });
}

bool SimulatedNodes::IsWholeNode(const HeldNodes& held) const {
  const NodeGroup& group = queue_.groups().groups()[static_cast<size_t>(held.group)];
  return !group.pooled() && held.each->cpus >= group.each.cpus;
}

int64_t SimulatedNodes::StartAsPlanned(const PartitionOption& option, int64_t start) {
  const std::vector<GroupDemand>& demands = option.requirements->demands;
  const bool pooled = std::all_of(demands.begin(), demands.end(), [&](const GroupDemand& demand) {
    return queue_.groups().groups()[static_cast<size_t>(demand.group)].pooled();
  });
  if (pooled) return start;  // already on the plan's grid
  const auto usable = [&](const HeldNodes& held) {
    const auto demand =
        std::lower_bound(demands.begin(), demands.end(), held.group,
                         [](const GroupDemand& p, int32_t group) { return p.group < group; });
    return demand != demands.end() && demand->group == held.group;
  };
  const auto is_whole = [&](const HeldNodes& held) { return IsWholeNode(held); };
  if (!unsorted_.empty()) SortByUntil();  // jobs started in this pass count too
  const SchedulerOptions& options = queue_.scheduler();
  int64_t stride = kFirstStride;
  int64_t first = -1;  // end of the stride's first job
  int64_t last = -1;
  bool by_running = false;
  for (const auto& [until, index, range] : by_until_) {
    if (until > start && (first < 0 || until > first + stride)) break;
    const HeldSpan held = Of(range, held_);
    if (std::none_of(held.begin(), held.end(), usable)) continue;
    if (options.running_job_reserve && std::all_of(held.begin(), held.end(), is_whole)) {
      continue;
    }
    if (first >= 0 && until > first + stride) {
      stride =
          options.window_linear_seconds > 0 ? stride + options.window_linear_seconds : stride * 2;
      first = -1;
    }
    if (first < 0) first = until;
    last = until;
    by_running = by_running || until == start;
  }
  return by_running ? std::max(start, last) : start;
}

int64_t SimulatedNodes::Boot(const PartitionOption& option, const GroupSlot& slot, int64_t now) {
  if (up_at_.empty()) return 0;
  int64_t longest = 0;
  for (const GroupAllocation& allocation : slot.nodes) {
    const GroupDemand& demand =
        option.requirements->demands[static_cast<size_t>(allocation.demand)];
    const NodeGroup& group = queue_.groups().groups()[static_cast<size_t>(demand.group)];
    int64_t& up_at = up_at_[static_cast<size_t>(demand.group)];
    if (up_at >= kNever || group.pooled()) up_at = now + group.boot_seconds;
    longest = std::max(longest, up_at - now);
  }
  return longest;
}

GroupPlan& SimulatedNodes::PlanAt(int64_t now) {
  SortByUntil();
  for (size_t i = 0; i < in_scope_.size(); ++i) {
    if (in_scope_[i]) plan_.Reset(static_cast<int32_t>(i), now, free_[i], contents_[i]);
  }
  for (const auto& [until, index, range] : by_until_) {
    if (until >= kNever) break;
    // Overdue jobs are planned to end at the next check.
    const int64_t time = std::max(until, now + 1);
    for (const HeldNodes& held : Of(range, held_)) {
      if (IsInScope(held.group)) plan_.Release(held.group, time, held.amount());
    }
  }
  for (const int32_t group : queue_.groups().with_parts()) {
    if (IsInScope(group)) plan_.SetPartsAside(group);
  }
  return plan_;
}

}  // namespace gpuadvise
