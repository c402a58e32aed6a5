#include "common/scheduler/scheduler_cycle.h"

#include <algorithm>

namespace gpuadvise {
namespace {

// Jobs between two checks of a backfill pass whether any other job could start.
constexpr int kLooksAhead = 3;

// Started jobs tolerated in a short queue before tidying.
constexpr size_t kMostGone = 16;

}  // namespace

SchedulerCycle::SchedulerCycle(const QueueModel& queue, SimulatedNodes& nodes,
                               std::vector<Waiting>& pending, SchedulerEvents& sample)
    : queue_(queue),
      options_(queue.scheduler()),
      nodes_(nodes),
      pending_(pending),
      sample_(sample) {}

void SchedulerCycle::Insert(std::ptrdiff_t demand, const Waiting& waiting) {
  pending_.insert(pending_.begin() + demand, waiting);
  first_ = std::min(first_, static_cast<size_t>(demand));
}

void SchedulerCycle::Leave(size_t index) {
  pending_[index].gone = true;
  ++gone_;
}

// Removes in batches: single removals would move a long queue at each start.
void SchedulerCycle::Tidy() {
  while (first_ < pending_.size() && pending_[first_].gone) ++first_;
  if (gone_ <= kMostGone + pending_.size() / 8) return;
  std::erase_if(pending_, [](const Waiting& waiting) { return waiting.gone; });
  gone_ = 0;
  first_ = 0;
}

// Tasks of an array are adjacent: they share a rank.
size_t SchedulerCycle::RecordBegin(size_t index) const {
  if (!pending_[index].job->of_array) return index;
  const auto begin = std::lower_bound(
      pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(index), pending_[index].rank,
      [](const Waiting& waiting, const Rank& rank) { return waiting.rank < rank; });
  return static_cast<size_t>(begin - pending_.begin());
}

size_t SchedulerCycle::RecordEnd(size_t index) const {
  if (!pending_[index].job->of_array) return index + 1;
  const auto end = std::upper_bound(
      pending_.begin() + static_cast<std::ptrdiff_t>(index), pending_.end(), pending_[index].rank,
      [](const Rank& rank, const Waiting& waiting) { return rank < waiting.rank; });
  return static_cast<size_t>(end - pending_.begin());
}

void SchedulerCycle::MainCycle(int64_t now) {
  now_ = now;
  Tidy();
  if (!options_.main_loop) {
    if (queue_.preemption().enabled()) PreemptPass();
    return;
  }
  blocked_.assign(queue_.snapshot().partitions.size(), false);
  tried_here_.assign(blocked_.size(), 0);
  int64_t tried = 0;
  size_t counted_until = 0;  // an array counts once towards the depth
  for (size_t i = first_; i < pending_.size() && tried < options_.queue_depth && !sample_.Done();
       ++i) {
    if (pending_[i].gone) continue;
    const Waiting waiting = pending_[i];
    const PendingJob& job = *waiting.job;
    bool gone = false;
    if (sample_.Competes(waiting)) {
      for (size_t w = 0; w < job.options.size() && !gone; ++w) {
        const auto partition = static_cast<size_t>(job.options[w].partition);
        if (blocked_[partition] || job.options[w].earliest > now_) continue;
        if (i >= counted_until && IsDeepEnough(job.options[w].partition)) continue;
        if (i >= counted_until) ++tried;
        counted_until = std::max(counted_until, job.of_array ? RecordEnd(i) : 0);
        const GroupSlot slot = nodes_.FitNow(job.options[w], now_);
        if (slot.start >= kNever) {
          blocked_[partition] = true;
          continue;
        }
        Leave(i);
        sample_.Start(waiting, w, slot);
        gone = true;
      }
    } else if (options_.assoc_limit_stop) {
      BlockWhereOverLimit(job);
    }
    if (!gone && std::all_of(blocked_.begin(), blocked_.end(), [](bool b) { return b; })) break;
  }
  if (queue_.preemption().enabled()) PreemptPass();
}

// Slurm tries no job behind one over a limit that it would otherwise try.
void SchedulerCycle::BlockWhereOverLimit(const PendingJob& job) {
  if (!job.after.empty() || nodes_.WithinPolicy(job)) return;
  for (const PartitionOption& option : job.options) {
    if (option.earliest <= now_) blocked_[static_cast<size_t>(option.partition)] = true;
  }
}

// Counts a job; whether partition_job_depth jobs of the partition have been tried.
bool SchedulerCycle::IsDeepEnough(int32_t partition) {
  if (options_.partition_depth <= 0) return false;
  return ++tried_here_[static_cast<size_t>(partition)] > options_.partition_depth;
}

// Preemption, in queue order, where nothing is free. Slurm's two passes do this as they go.
void SchedulerCycle::PreemptPass() {
  for (size_t i = first_; i < pending_.size() && !sample_.Done(); ++i) {
    const Waiting waiting = pending_[i];
    if (waiting.gone) continue;
    const auto slot = sample_.Competes(waiting) ? FindPreemptibleSlot(waiting) : std::nullopt;
    if (!slot) continue;
    Leave(i);
    const std::vector<ActiveJob> lost =
        nodes_.Preempt(waiting.job->options[slot->second], waiting.rank.priority, slot->first);
    sample_.Start(waiting, slot->second, slot->first);
    for (const ActiveJob& job : lost) sample_.Lose(job);
  }
}

// Nodes that the job can take by preemption, and the option used.
std::optional<std::pair<GroupSlot, size_t>> SchedulerCycle::FindPreemptibleSlot(
    const Waiting& waiting) const {
  const PendingJob& job = *waiting.job;
  for (size_t w = 0; w < job.options.size(); ++w) {
    const PartitionOption& option = job.options[w];
    if (!queue_.preemption().MayTake(option.preempt_class)) continue;
    if (nodes_.FitNow(option, now_).start < kNever) return std::nullopt;  // left to backfill
    GroupSlot slot = nodes_.FitByPreempting(option, waiting.rank.priority, now_);
    if (slot.start < kNever) return std::pair(std::move(slot), w);
  }
  return std::nullopt;
}

// How far the pass must look: no job behind the last one that fits into free resources can start,
// and bf_max_job_test bounds the depth.
size_t SchedulerCycle::EndOfCandidates() const {
  size_t last = pending_.size();
  if (static_cast<int64_t>(last) > options_.max_job_test) {
    last = 0;
    for (int64_t tried = 0; last < pending_.size() && tried < options_.max_job_test;) {
      if (pending_[last].gone) {
        ++last;
        continue;
      }
      if (sample_.Competes(pending_[last])) ++tried;
      last = RecordEnd(last);
    }
  }
  return TrimToCandidates(first_, last);
}

// End of the last job in [first, last) that fits into free resources.
size_t SchedulerCycle::TrimToCandidates(size_t first, size_t last) const {
  while (last > first && !IsCandidate(last - 1)) {
    last = pending_[last - 1].gone ? last - 1 : RecordBegin(last - 1);
  }
  return std::max(last, first);
}

bool SchedulerCycle::IsCandidate(size_t index) const {
  return !pending_[index].gone && nodes_.FitsSomewhere(*pending_[index].job);
}

void SchedulerCycle::BackfillCycle(int64_t now) {
  now_ = now;
  Tidy();
  size_t last = EndOfCandidates();
  if (last <= first_) return;
  GroupPlan& plan = nodes_.PlanAt(now_);
  tried_by_user_.clear();
  tried_by_user_part_.clear();
  tried_by_part_.clear();
  reserved_by_part_.clear();
  not_before_.clear();
  int64_t tried = 0;
  int64_t started = 0;
  int64_t reserved = 0;    // of the current array
  size_t array_until = 0;  // end of the current array
  int planned = kLooksAhead;
  for (size_t i = first_; i < last && !sample_.Done(); ++i) {
    if (pending_[i].gone) continue;
    if (planned++ == kLooksAhead) {
      last = LastWithASlotNow(plan, i, last);
      planned = 0;
      if (i >= last) return;
    }
    const Waiting waiting = pending_[i];
    const PendingJob& job = *waiting.job;
    if (waiting.gaps_only && !nodes_.FitsSomewhere(job)) continue;
    if (!sample_.Competes(waiting)) continue;
    if (i >= array_until) {
      if (tried >= options_.max_job_test) return;
      array_until = RecordEnd(i);
      reserved = 0;
      if (ReachedBackfillLimit(job)) {
        i = array_until - 1;
        continue;
      }
      ++tried;
    }
    const Planned outcome = PlanOne(plan, waiting, reserved);
    if (outcome == Planned::kStarts) {
      Leave(i);
      last = TrimToCandidates(i, last);
      if (options_.max_job_start > 0 && ++started >= options_.max_job_start) return;
    } else if (outcome == Planned::kNothing) {
      i = array_until - 1;  // its other tasks are equal
    } else {
      ++reserved;
    }
  }
}

// The plan only fills up in a pass: a job without a slot now gets none later. So jobs behind the
// last one with a slot need no planning.
size_t SchedulerCycle::LastWithASlotNow(const GroupPlan& plan, size_t from, size_t last) {
  const auto has_slot = [&](const PartitionOption& option) {
    int64_t& not_before = NotBefore(option);
    if (not_before > now_) return false;
    if (plan.HasSlotAt(*option.requirements, option.duration, now_)) return true;
    not_before = now_ + 1;
    return false;
  };
  while (last > from) {
    if (pending_[last - 1].gone) {
      --last;
      continue;
    }
    const std::vector<PartitionOption>& options = pending_[last - 1].job->options;
    if (std::any_of(options.begin(), options.end(), has_slot)) break;
    last = RecordBegin(last - 1);
  }
  return last;
}

// For the option's requirements and duration, in this pass.
int64_t& SchedulerCycle::NotBefore(const PartitionOption& option) {
  const std::pair key(option.requirements.get(), option.duration);
  const auto place = std::lower_bound(not_before_.begin(), not_before_.end(), key,
                                      [](const auto& a, const auto& b) { return a.first < b; });
  if (place != not_before_.end() && place->first == key) return place->second;
  return not_before_.insert(place, {key, now_})->second;
}

// Whether bf_max_job_user, _assoc or _part jobs were tried before it.
bool SchedulerCycle::ReachedBackfillLimit(const PendingJob& job) {
  const int32_t partition = job.options.front().partition;
  const bool by_assoc = options_.max_job_assoc > 0;
  const int64_t owner = by_assoc ? job.association : job.user;
  const int64_t most_of_owner = by_assoc ? options_.max_job_assoc : options_.max_job_user;
  const int64_t user_in_part = static_cast<int64_t>(job.user) << 32 | partition;
  const auto had = [](int64_t most, auto& tried, auto key, bool known) {
    if (most <= 0 || !known) return false;
    const auto found = tried.find(key);
    return found != tried.end() && found->second >= most;
  };
  if (had(most_of_owner, tried_by_user_, owner, owner >= 0) ||
      had(options_.max_job_user_part, tried_by_user_part_, user_in_part, job.user >= 0) ||
      had(options_.max_job_part, tried_by_part_, partition, true)) {
    return true;
  }
  if (most_of_owner > 0) ++tried_by_user_[owner];
  if (options_.max_job_user_part > 0) ++tried_by_user_part_[user_in_part];
  if (options_.max_job_part > 0) ++tried_by_part_[partition];
  return false;
}

// Plans the job's slot. `reserved`: tasks of its array that already have reservations.
SchedulerCycle::Planned SchedulerCycle::PlanOne(GroupPlan& plan, const Waiting& waiting,
                                                int64_t reserved) {
  const PendingJob& job = *waiting.job;
  GroupSlot best;
  size_t chosen = 0;
  for (size_t w = 0; w < job.options.size(); ++w) {
    const PartitionOption& option = job.options[w];
    const int64_t latest = waiting.gaps_only ? std::min(option.latest, now_ + 1) : option.latest;
    int64_t& not_before = NotBefore(option);
    const int64_t from = std::max(not_before, option.earliest);
    if (from >= latest) continue;
    GroupSlot slot = plan.Earliest(*option.requirements, option.duration, from, latest);
    if (option.earliest <= now_)
      not_before = slot.start >= kNever ? std::max(from, latest) : slot.start;
    if (slot.start < best.start) {
      best = std::move(slot);
      chosen = w;
    }
  }
  if (best.start >= kNever || best.start > now_ + options_.window_seconds) {
    return Planned::kNothing;
  }
  const PartitionOption& option = job.options[chosen];
  if (best.start <= now_) {
    plan.Take(*option.requirements, best, option.duration);
    sample_.Start(waiting, chosen, best);
    return Planned::kStarts;
  }
  if (job.of_array && reserved >= MaxReservedTasks(job)) return Planned::kNothing;
  if (!MayReserve(waiting)) return Planned::kNothing;
  return ReserveAll(plan, job, chosen, best) ? Planned::kIsReserved : Planned::kNothing;
}

// Slurm's backfill considers a job once per partition and reserves nodes in each. `best`: the
// earliest slot, with option `chosen`.
bool SchedulerCycle::ReserveAll(GroupPlan& plan, const PendingJob& job, size_t chosen,
                                const GroupSlot& best) {
  const int64_t window_end = now_ + options_.window_seconds + 1;
  bool any = false;
  for (size_t w = 0; w < job.options.size(); ++w) {
    const PartitionOption& option = job.options[w];
    if (any && options_.one_resv_per_job) break;
    if (option.magnetic && !options_.magnetic_slot) continue;
    if (options_.part_count_reserve > 0 &&
        reserved_by_part_[option.partition] >= options_.part_count_reserve) {
      continue;
    }
    const bool is_known = !any && w == chosen;  // unchanged since
    GroupSlot slot = is_known ? best
                              : plan.Earliest(*option.requirements, option.duration,
                                              std::max(now_, option.earliest),
                                              std::min(option.latest, window_end));
    if (slot.start >= kNever) continue;
    if (options_.part_count_reserve > 0) ++reserved_by_part_[option.partition];
    Reserve(plan, option, std::move(slot));
    any = true;
  }
  return any;
}

// Tasks of its array that get reservations: no more than may run in addition to those running.
int64_t SchedulerCycle::MaxReservedTasks(const PendingJob& job) const {
  const int64_t most = options_.max_job_array_resv;
  return job.throttle < 0 ? most : std::min(most, nodes_.LeftBy(job.throttle));
}

void SchedulerCycle::Reserve(GroupPlan& plan, const PartitionOption& option, GroupSlot slot) const {
  const bool as_planned = queue_.by_time_limit();  // no scheduler delay between plan and start
  const int64_t start = as_planned ? slot.start : nodes_.StartAsPlanned(option, slot.start);
  if (start > slot.start)
    slot = plan.Earliest(*option.requirements, option.duration, start, option.latest);
  if (slot.start >= kNever) return;
  const int64_t end = option.duration >= kNever ? kNever : slot.start + option.duration;
  if (as_planned) return plan.Reserve(*option.requirements, slot, slot.start, end);
  const int64_t from = std::max(OnGrid(slot.start), now_);
  plan.Reserve(*option.requirements, slot, from,
               std::max(OnGrid(end), from + options_.resolution_seconds));
}

// Backfill's reservations are rounded to bf_resolution.
int64_t SchedulerCycle::OnGrid(int64_t time) const {
  if (time >= kNever) return kNever;
  const int64_t clock = queue_.snapshot().taken_at + time;
  return time - clock % options_.resolution_seconds;
}

bool SchedulerCycle::MayReserve(const Waiting& waiting) const {
  return waiting.job->age + now_ - waiting.since >= options_.min_age_reserve_seconds &&
         waiting.rank.priority >= options_.min_priority_reserve;
}

}  // namespace gpuadvise
