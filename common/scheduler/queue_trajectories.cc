// Questions about a queue of tens of thousands of jobs.
//
// Problem. StartOf simulates the queue with the request in it, once per sample. This is exact and
// takes a fraction of a millisecond for a hundred jobs, but a second for thirty thousand, and one
// advice asks a dozen questions.
//
// Idea. Simulate the queue once, without a request, and record who held what when. In each sample
// the request would have started
//   - not before any job of higher rank that asks for no more and no longer on the same nodes: that
//     job would have fitted first;
//   - not after any job of lower rank that asks for no less and no longer;
//   - not before backfill looks that far down the queue (bf_max_job_test; an array counts once);
//   - in between, at the first time when the free resources suffice, after jobs of higher rank
//     have started and before those of lower rank do.
// In a long queue the first two bounds are close. Backfill plans are kept at every few hundredth
// job, so that only the jobs since then must be planned.
//
// Why not always. A short queue may have no similar job. Then the reservations of earlier jobs
// matter, which are not recorded; a full simulation is cheap there. Cost and loss:
// bench/performance.md and docs/forecast.md.
//
// Limits. The request displaces nobody: jobs behind it keep nodes they started on. Usage limits,
// dependencies and preemption are ignored; `Takes` excludes such requests.
#include "common/scheduler/queue_trajectories.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>

#include "common/scheduler/plan_now.h"

namespace gpuadvise {
namespace {

constexpr size_t kPlanEvery = 250;  // jobs; with many groups, half their number

// Changes between two marks, or the number of groups if larger.
constexpr size_t kMarkEvery = 128;

// Whether a node has room for `a` if it has room for `b`. For GPU jobs only GPUs count: they are
// the scarce resource.
bool AsksNoMore(const Resources& a, const Resources& b) {
  if (a.any_gpus == 0 || b.any_gpus == 0) return Fits(a, b);
  return a.any_gpus <= b.any_gpus && a.shards <= b.shards &&
         std::equal(a.gpus.begin(), a.gpus.end(), b.gpus.begin(), std::less_equal<>());
}

// Whether `a` can start wherever and whenever `b` can: it asks for no more, on no fewer nodes.
bool IsEasier(const PartitionOption& a, const PartitionOption& b) {
  if (a.duration > b.duration || a.earliest > b.earliest || a.latest < b.latest) return false;
  if (a.requirements == b.requirements) return true;
  const GroupRequirements& easy = *a.requirements;
  const GroupRequirements& hard = *b.requirements;
  if (easy.nodes > hard.nodes || easy.reservation != hard.reservation) return false;
  for (const GroupDemand& demand : hard.demands) {
    const auto same =
        std::lower_bound(easy.demands.begin(), easy.demands.end(), demand.group,
                         [](const GroupDemand& p, int32_t group) { return p.group < group; });
    if (same == easy.demands.end() || same->group != demand.group) return false;
    if (!AsksNoMore(same->each, demand.each)) return false;
  }
  return std::none_of(easy.demands.begin(), easy.demands.end(),
                      [](const GroupDemand& demand) { return demand.required; });
}

}  // namespace

QueueTrajectories::QueueTrajectories(const QueueModel& queue)
    : queue_(queue), plan_every_(std::max(kPlanEvery, queue.groups().groups().size() / 2)) {
  members_.resize(queue.groups().groups().size());
  for (size_t i = 0; i < members_.size(); ++i) {
    members_[static_cast<size_t>(queue.component_of_group()[i])].push_back(static_cast<int32_t>(i));
  }
  const int samples = queue.by_time_limit() ? 0 : queue.options().samples;
  for (int i = 0; i < samples; ++i) {
    SimulatedSample& sample = samples_.emplace_back(SimulateSample(queue, i));
    sample.jobs.shrink_to_fit();
    sample.others.shrink_to_fit();
    sample.held.shrink_to_fit();
  }
  FindRecords();
  for (const SimulatedSample& sample : samples_) Follow(sample);
  FindKinds();
  PlanAll(Durations::kLimits, plans_[0]);
  if (!queue.by_time_limit()) PlanAll(Durations::kLastTwo, plans_[1]);
  cap_wanted_ = queue.cap_use();
  for (const PendingJob& job : queue.pending()) {
    for (const LimitUse& use : job.caps) cap_wanted_[static_cast<size_t>(use.cap)] += use.amount;
  }
}

void QueueTrajectories::Follow(const SimulatedSample& sample) {
  std::vector<Followed>& followed = followed_.emplace_back(queue_.groups().groups().size());
  std::vector<int64_t>& starts = starts_.emplace_back(queue_.pending().size(), kNever);
  const auto add = [&](const HeldRange& range, size_t holder, int64_t from, int64_t to) {
    for (uint32_t held = range.first; held < range.first + range.count; ++held) {
      const auto group = static_cast<size_t>(sample.held[held].group);
      std::vector<Change>& changes =
          followed[static_cast<size_t>(queue_.component_of_group()[group])].changes;
      const auto by = static_cast<uint32_t>(holder);
      if (from >= 0) changes.push_back({from, by, held, 1});
      if (to < kNever) changes.push_back({to, by, held, 0});
    }
  };
  for (size_t i = 0; i < sample.others.size(); ++i) {
    const SimulatedOther& other = sample.others[i];
    add(other.held, queue_.pending().size() + i, other.runs ? -1 : other.start, other.end);
  }
  for (const SimulatedJob& job : sample.jobs) {
    add(job.held, job.pending, job.start, job.end);
    starts[job.pending] = std::min(starts[job.pending], job.start);
  }
  std::vector<int64_t>& left = left_.emplace_back();
  for (size_t i = 0; i < records_.size(); ++i) {
    const size_t end = i + 1 < records_.size() ? records_[i + 1] : starts.size();
    left.push_back(*std::max_element(starts.begin() + static_cast<std::ptrdiff_t>(records_[i]),
                                     starts.begin() + static_cast<std::ptrdiff_t>(end)));
  }
  in_order_.push_back(left);
  std::sort(in_order_.back().begin(), in_order_.back().end());
  for (size_t component = 0; component < followed.size(); ++component) {
    std::vector<Change>& changes = followed[component].changes;
    std::sort(changes.begin(), changes.end(), [&](const Change& a, const Change& b) {
      if (a.time != b.time) return a.time < b.time;
      if (a.takes != b.takes) return a.takes < b.takes;
      return a.takes == 1 && RankOf(sample, a) < RankOf(sample, b);
    });
    changes.shrink_to_fit();
    AddMarks(sample, component, followed[component]);
  }
}

void QueueTrajectories::AddMarks(const SimulatedSample& sample, size_t component,
                                 Followed& followed) const {
  const std::vector<int32_t>& members = members_[component];
  const size_t every = std::max(kMarkEvery, members.size());
  std::vector<Resources> free = queue_.free_now();
  int64_t time = 0;
  for (size_t i = 0; i < followed.changes.size(); ++i) {
    if (i % every == 0) {
      Mark& mark = followed.marks.emplace_back(Mark{i, time, {}});
      for (const int32_t group : members) mark.free.push_back(free[static_cast<size_t>(group)]);
    }
    Apply(sample, followed.changes[i], free);
    time = std::max<int64_t>(followed.changes[i].time, 0);
  }
}

// REQUIRES: the change takes.
const Rank& QueueTrajectories::RankOf(const SimulatedSample& sample, const Change& change) const {
  const std::vector<PendingJob>& pending = queue_.pending();
  return change.holder < pending.size() ? pending[change.holder].rank
                                        : sample.others[change.holder - pending.size()].rank;
}

bool QueueTrajectories::IsOfReplaced(const PendingJob& request, const Change& change) const {
  const std::vector<PendingJob>& pending = queue_.pending();
  return request.replaces_job != 0 && change.holder < pending.size() &&
         pending[change.holder].id == request.replaces_job && pending[change.holder].task == 0;
}

void QueueTrajectories::Apply(const SimulatedSample& sample, const Change& change,
                              std::vector<Resources>& free) {
  const HeldNodes& held = sample.held[change.held];
  Resources& left = free[static_cast<size_t>(held.group)];
  if (change.takes == 1) {
    left -= held.amount();
  } else {
    left += held.amount();
  }
}

void QueueTrajectories::PlanAll(Durations durations, Planned& planned) const {
  GroupPlan plan = PlanOfRunning(queue_, durations, GroupPlan::Grid::kCoarse);
  const std::vector<PendingJob>& pending = queue_.pending();
  for (size_t i = 0; i < pending.size(); ++i) {
    if (i % plan_every_ == 0) planned.checkpoints.push_back(plan);
    planned.starts.push_back(PlanNext(plan, pending[i], durations).start);
  }
  planned.checkpoints.push_back(plan);  // where most new jobs go
}

int32_t QueueTrajectories::ComponentOf(const GroupDemand& demand) const {
  return queue_.component_of_group()[static_cast<size_t>(demand.group)];
}

bool QueueTrajectories::Takes(const PendingJob& request) const {
  if (queue_.preemption().enabled() || !request.after.empty()) return false;
  const int32_t component = ComponentOf(request.options.front().requirements->demands.front());
  for (const PartitionOption& option : request.options) {
    for (const GroupDemand& demand : option.requirements->demands) {
      if (ComponentOf(demand) != component) return false;
    }
  }
  return std::all_of(request.caps.begin(), request.caps.end(), [&](const LimitUse& use) {
    const auto cap = static_cast<size_t>(use.cap);
    return cap_wanted_[cap] + use.amount <= queue_.limits().most()[cap];
  });
}

void QueueTrajectories::FindKinds() {
  std::map<std::tuple<const GroupRequirements*, int64_t, int64_t, int64_t>, size_t> known;
  const std::vector<PendingJob>& pending = queue_.pending();
  for (size_t i = 0; i < pending.size(); ++i) {
    if (pending[i].options.size() != 1) continue;
    const PartitionOption& option = pending[i].options.front();
    const auto [kind, added] = known.try_emplace(
        {option.requirements.get(), option.duration, option.earliest, option.latest},
        kinds_.size());
    if (added) kinds_.push_back({&option, {}});
    kinds_[kind->second].jobs.push_back(i);
  }
}

std::vector<int64_t> QueueTrajectories::StartsOf(const PendingJob& request,
                                                 size_t most_samples) const {
  std::vector<size_t> easier;
  std::vector<size_t> harder;
  const std::vector<PendingJob>& pending = queue_.pending();
  const auto replaced = [&](size_t i) {
    return pending[i].id == request.replaces_job && pending[i].task == 0;
  };
  const auto demand =
      std::lower_bound(pending.begin(), pending.end(), request.rank,
                       [](const PendingJob& job, const Rank& rank) { return job.rank < rank; });
  const auto own = static_cast<size_t>(demand - pending.begin());
  for (const Kind& kind : kinds_) {
    if (request.options.size() != 1) break;
    const PartitionOption& option = request.options.front();
    const auto behind = std::lower_bound(kind.jobs.begin(), kind.jobs.end(), own);
    if (behind != kind.jobs.begin() && IsEasier(*kind.option, option)) {
      std::copy_if(kind.jobs.begin(), behind, std::back_inserter(easier), [&](size_t i) {
        return pending[i].after.empty() && !pending[i].held && !replaced(i);
      });
    }
    if (behind != kind.jobs.end() && !request.held && IsEasier(option, *kind.option)) {
      std::copy_if(behind, kind.jobs.end(), std::back_inserter(harder),
                   [&](size_t i) { return !replaced(i); });
    }
  }
  std::vector<int64_t> starts;
  for (size_t sample = 0; sample < std::min(samples_.size(), most_samples); ++sample) {
    starts.push_back(StartIn(sample, request, easier, harder));
  }
  return starts;
}

bool QueueTrajectories::FitsAt(const PendingJob& request, const std::vector<Resources>& free,
                               int64_t time) const {
  return std::any_of(
      request.options.begin(), request.options.end(), [&](const PartitionOption& option) {
        if (option.earliest > time || option.latest <= time) return false;
        int64_t nodes = 0;
        for (const GroupDemand& demand : option.requirements->demands) {
          const auto index = static_cast<size_t>(demand.group);
          const NodeGroup& group = queue_.groups().groups()[index];
          const bool kept = std::any_of(
              group.reserved.begin(), group.reserved.end(), [&](const ReservedWindow& window) {
                return window.reservation != option.requirements->reservation &&
                       window.Bars(time, option.duration);
              });
          const Resources left =
              group.parts.empty() ? free[index]
                                  : free[index] - SetAside(group, option.requirements->reservation,
                                                           time, option.duration);
          const int64_t fit = kept ? 0 : NodesThatFit(demand, group.pooled(), left);
          if (demand.required && fit == 0) return false;
          nodes += fit;
        }
        return nodes >= option.requirements->nodes;
      });
}

// An array is one record of Slurm's queue until its last task has started.
void QueueTrajectories::FindRecords() {
  const std::vector<PendingJob>& pending = queue_.pending();
  for (size_t i = 0; i < pending.size(); ++i) {
    const bool next_task = i > 0 && pending[i].of_array && pending[i].id == pending[i - 1].id;
    if (!next_task) records_.push_back(i);
  }
}

// Backfill looks at no more than bf_max_job_test waiting jobs.
int64_t QueueTrajectories::LookedAtFrom(size_t sample, const PendingJob& request) const {
  const std::vector<PendingJob>& pending = queue_.pending();
  const auto end =
      std::lower_bound(records_.begin(), records_.end(), request.rank,
                       [&](size_t first, const Rank& rank) { return pending[first].rank < rank; });
  const auto before = end - records_.begin();
  const int64_t most = queue_.scheduler().max_job_test;
  if (before < most) return 0;
  if (end == records_.end()) return in_order_[sample][static_cast<size_t>(before - most)];
  std::vector<int64_t> left(left_[sample].begin(), left_[sample].begin() + before);
  const auto last = left.begin() + (before - most);
  std::nth_element(left.begin(), last, left.end());
  return *last;
}

int64_t QueueTrajectories::StartIn(size_t sample, const PendingJob& request,
                                   const std::vector<size_t>& easier,
                                   const std::vector<size_t>& harder) const {
  int64_t not_before = LookedAtFrom(sample, request);
  for (const size_t i : easier) not_before = std::max(not_before, starts_[sample][i]);
  int64_t not_after = kNever;
  for (const size_t i : harder) not_after = std::min(not_after, starts_[sample][i]);
  if (not_before >= not_after) return not_before;
  const auto component =
      static_cast<size_t>(ComponentOf(request.options.front().requirements->demands.front()));
  const SimulatedSample& played = samples_[sample];
  const Followed& followed = followed_[sample][component];
  const std::vector<Change>& changes = followed.changes;
  std::vector<Resources> free = queue_.free_now();
  size_t i = 0;
  int64_t now = 0;
  // The last mark before the first possible start; marks lack the replaced job, so then use none.
  const auto mark = std::partition_point(followed.marks.begin(), followed.marks.end(),
                                         [&](const Mark& m) { return m.time < not_before; });
  if (request.replaces_job == 0 && mark != followed.marks.begin()) {
    const Mark& from = *std::prev(mark);
    i = from.next;
    now = from.time;
    for (size_t k = 0; k < from.free.size(); ++k) {
      free[static_cast<size_t>(members_[component][k])] = from.free[k];
    }
  }
  bool looked = false;  // since the last release
  for (; i <= changes.size(); ++i) {
    const bool end = i == changes.size();
    const bool later = end || changes[i].time > now;
    const auto behind = [&] {
      return changes[i].takes == 1 && request.rank < RankOf(played, changes[i]);
    };
    if (!looked && now >= not_before && (later || behind())) {
      if (FitsAt(request, free, now)) return std::min(now, not_after);
      looked = true;
    }
    if (end || (later && changes[i].time >= not_after)) break;
    now = std::max(changes[i].time, now);
    if (IsOfReplaced(request, changes[i])) continue;
    Apply(played, changes[i], free);
    looked = looked && changes[i].takes == 1;
  }
  return not_after;
}

SimulatedStart QueueTrajectories::Plan(const PendingJob& request, Durations durations) const {
  const Planned& planned = plans_[durations == Durations::kLimits ? 0 : 1];
  const std::vector<PendingJob>& pending = queue_.pending();
  const auto demand =
      std::lower_bound(pending.begin(), pending.end(), request.rank,
                       [](const PendingJob& job, const Rank& rank) { return job.rank < rank; });
  const auto before = static_cast<size_t>(demand - pending.begin());
  const bool behind_all = before == pending.size() && request.replaces_job == 0;
  const size_t checkpoint = behind_all ? planned.checkpoints.size() - 1 : before / plan_every_;
  const std::vector<bool> components = FindRelevantComponents(queue_, request);
  std::vector<int32_t> groups;
  for (size_t i = 0; i < components.size(); ++i) {
    if (components[i]) groups.insert(groups.end(), members_[i].begin(), members_[i].end());
  }
  GroupPlan plan = planned.checkpoints[checkpoint].Of(groups);
  for (size_t i = behind_all ? before : checkpoint * plan_every_; i < before; ++i) {
    const bool replaced = pending[i].id == request.replaces_job && pending[i].task == 0;
    if (!replaced && IsIn(queue_, components, pending[i])) PlanNext(plan, pending[i], durations);
  }
  return PlanNext(plan, request, durations);
}

}  // namespace gpuadvise
