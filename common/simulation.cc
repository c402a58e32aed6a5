// Playing the scheduler forward.
//
// Problem. A job starts when Slurm gets to it, and Slurm plans with time limits while jobs end when
// they end. A plan at the limits is off by hours to days; a plan with the true run times is wrong
// too, because the scheduler did not know them.
//
// Idea. Draw for every running and pending job how long it will really run, then play events in
// order: jobs end, and after each end Slurm's two passes look at the queue with what they know,
// which is the limits. The main pass goes down the queue and starts what fits until the first job
// of a partition that does not. The backfill pass, every bf_interval, gives each job in order the
// earliest slot of a plan at the limits; those whose slot is now start, the others keep their slot
// against everyone behind them. The request is one of the jobs, at its own rank; the sample is over
// when it starts.
//
// Cost. A backfill pass plans only as far down the queue as a job is left that would fit into what
// is free now: on a full cluster that is mostly nobody. Only groups of nodes that the request's
// fate can depend on are played. Random numbers depend on seed, sample and job id alone, so that
// alternatives are compared in the same future.
//
// Where it is wrong. Jobs that arrive later do not overtake; fair share does not change as time
// passes; licences, topology, bf_resolution and preemption are not
// played; a job runs once and is not requeued.
#include "common/simulation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "common/group_plan.h"
#include "common/job_random.h"
#include "common/run_time_draw.h"

namespace gpuadvise {
namespace {

/// A job that holds nodes in the sample.
struct Active {
  int64_t id = 0;
  int64_t end = kNever;    // when it really ends
  int64_t until = kNever;  // when its limit ends it, as the scheduler plans
  std::vector<GroupShare> shares;
  const CapUses* caps = nullptr;
};

/// Stands for one job on a node; those of a node are added up.
uint64_t ContentOf(const Active& job) {
  return MixBits(static_cast<uint64_t>(job.id) * 1'000'003 + static_cast<uint64_t>(job.until));
}

class Player {
 public:
  /// `request` null: the queue alone.
  Player(const QueueModel& queue, const PendingJob* request, int sample)
      : queue_(queue),
        request_(request),
        sample_(sample),
        options_(queue.scheduler()),
        plan_(queue.groups()),
        free_(queue.free_now()),
        contents_(free_.size(), 0),
        cap_use_(queue.cap_use()) {
    FindHotGroups();
    DrawAll();
    for (size_t i = 0; i < queue.running().size(); ++i) AddRunning(queue.running()[i], i);
    AddPending();
    FindEdges();
  }

  PlayedStart Run() {
    if (!queue_.at_limits()) {
      const auto interval = static_cast<double>(options_.interval_seconds);
      phase_ = static_cast<int64_t>(
          interval * UniformOf(queue_.options().seed, static_cast<uint64_t>(sample_), 0));
    }
    MainPass();
    int64_t backfill_at = options_.backfill ? phase_ : kNever;
    bool changed = true;
    while (!started_ && !(request_ == nullptr && pending_.empty())) {
      const int64_t next = NextEvent();
      const int64_t due = changed ? backfill_at : kNever;
      now_ = std::min(next, due);
      if (now_ >= kNever || now_ > queue_.options().horizon_seconds) return {};
      if (next <= now_) {
        EndJobs();
        MainPass();
        changed = true;
        backfill_at = options_.backfill ? TickFrom(now_) : kNever;
      }
      if (!started_ && now_ >= backfill_at) {
        BackfillPass();
        changed = false;
      }
    }
    return answer_;
  }

  std::vector<PlayedJob> RunQueue() {
    Run();
    std::sort(played_.begin(), played_.end(),
              [](const PlayedJob& a, const PlayedJob& b) { return a.pending < b.pending; });
    return std::move(played_);
  }

 private:
  using Event = std::pair<int64_t, size_t>;
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  // ---- setting up ----------------------------------------------------------------------------

  void FindHotGroups() {
    // Whoever shares a limit with jobs elsewhere depends on them too.
    everything_ = request_ == nullptr || !request_->caps.empty() || !request_->after.empty();
    hot_.assign(queue_.groups().groups().size(), false);
    std::vector<bool> components(hot_.size(), false);
    for (size_t w = 0; request_ != nullptr && w < request_->ways.size(); ++w) {
      for (const Place& place : request_->ways[w].shape->places) {
        components[static_cast<size_t>(ComponentOf(place.group))] = true;
      }
    }
    for (size_t i = 0; i < hot_.size(); ++i) {
      hot_[i] =
          everything_ || components[static_cast<size_t>(ComponentOf(static_cast<int32_t>(i)))];
    }
  }

  int32_t ComponentOf(int32_t group) const {
    return queue_.component_of_group()[static_cast<size_t>(group)];
  }
  bool IsHot(int32_t group) const { return hot_[static_cast<size_t>(group)]; }

  bool IsPlayed(const RunningJob& job) const {
    return everything_ || std::any_of(job.shares.begin(), job.shares.end(),
                                      [&](const GroupShare& s) { return IsHot(s.group); });
  }

  bool IsPlayed(const PendingJob& job) const {
    return !job.held &&
           (everything_ || std::any_of(job.ways.begin(), job.ways.end(), [&](const JobWay& way) {
              return !way.shape->places.empty() && IsHot(way.shape->places.front().group);
            }));
  }

  /// Run times of all that is played: running jobs first, then pending ones.
  void DrawAll() {
    std::vector<RunTimeQuestion> questions;
    for (const RunningJob& job : queue_.running()) {
      questions.push_back({static_cast<uint64_t>(job.id), job.burst, job.elapsed,
                           IsPlayed(job) ? job.run_time.get() : nullptr});
    }
    for (const PendingJob& job : queue_.pending()) {
      questions.push_back({(static_cast<uint64_t>(job.id) << 12) + static_cast<uint64_t>(job.task),
                           job.burst, 0, IsPlayed(job) ? job.run_time.get() : nullptr});
    }
    run_times_ = DrawRunTimes(questions, queue_.options().seed, static_cast<uint64_t>(sample_));
  }

  void AddRunning(const RunningJob& job, size_t index) {
    if (!IsPlayed(job)) return;
    Active active;
    active.id = job.id;
    active.until = job.until;
    active.end = job.until;
    if (job.run_time) {
      const int64_t rest = std::llround(run_times_[index] - job.elapsed);
      active.end = std::max<int64_t>(std::min(rest, job.until), 1);
    }
    active.shares = job.shares;
    active.caps = &job.caps;
    Activate(std::move(active));
  }

  void AddPending() {
    bool inserted = request_ == nullptr;
    for (const PendingJob& job : queue_.pending()) {
      if (!inserted && request_->rank < job.rank) {
        pending_.push_back(request_);
        inserted = true;
      }
      if (!IsPlayed(job)) continue;
      pending_.push_back(&job);
      for (const int64_t id : job.after) ++wanted_ends_[id];
    }
    if (!inserted) pending_.push_back(request_);
    if (request_ != nullptr) {
      for (const int64_t id : request_->after) ++wanted_ends_[id];
    }
    if (wanted_ends_.empty()) return;
    for (const Active& job : actives_) {
      if (job.end > now_) open_.emplace(job.id, true);
    }
    for (const PendingJob* job : pending_) open_.emplace(job->id, true);
  }

  // ---- time ------------------------------------------------------------------------------------

  int64_t TickFrom(int64_t time) const {
    if (queue_.at_limits()) return time;  // a plan, in which passes take no time
    const int64_t interval = options_.interval_seconds;
    if (time <= phase_) return phase_;
    return phase_ + (time - phase_ + interval - 1) / interval * interval;
  }

  /// Times at which something but the end of a job lets somebody start.
  void FindEdges() {
    for (const PendingJob* job : pending_) {
      for (const JobWay& way : job->ways) {
        if (way.earliest > 0) edges_.push_back(way.earliest);
      }
    }
    for (size_t i = 0; i < hot_.size(); ++i) {
      if (!hot_[i]) continue;
      for (const ReservedWindow& window : queue_.groups().groups()[i].reserved) {
        if (window.end > 0 && window.end < kNever) edges_.push_back(window.end);
      }
    }
    std::sort(edges_.begin(), edges_.end(), std::greater<>());
  }

  int64_t NextEvent() {
    while (!edges_.empty() && edges_.back() <= now_) edges_.pop_back();
    const int64_t end = ends_.empty() ? kNever : ends_.top().first;
    return edges_.empty() ? end : std::min(end, edges_.back());
  }

  void Activate(Active job) {
    for (const GroupShare& share : job.shares) {
      contents_[static_cast<size_t>(share.group)] += ContentOf(job);
    }
    const size_t index = actives_.size();
    ends_.emplace(job.end, index);
    const std::pair entry(job.until, index);
    by_until_.insert(std::upper_bound(by_until_.begin(), by_until_.end(), entry), entry);
    actives_.push_back(std::move(job));
  }

  void EndJobs() {
    while (!ends_.empty() && ends_.top().first <= now_) {
      const size_t index = ends_.top().second;
      ends_.pop();
      const Active& job = actives_[index];
      for (const GroupShare& share : job.shares) {
        free_[static_cast<size_t>(share.group)] += share.held;
        contents_[static_cast<size_t>(share.group)] -= ContentOf(job);
      }
      for (const CapUse& use : *job.caps) cap_use_[static_cast<size_t>(use.cap)] -= use.amount;
      by_until_.erase(
          std::lower_bound(by_until_.begin(), by_until_.end(), std::pair(job.until, index)));
      open_.erase(job.id);
    }
  }

  // ---- who may start ---------------------------------------------------------------------------

  bool WithinLimits(const PendingJob& job) const {
    return std::all_of(job.caps.begin(), job.caps.end(), [&](const CapUse& use) {
      const auto cap = static_cast<size_t>(use.cap);
      return cap_use_[cap] + use.amount <= queue_.limits().most()[cap];
    });
  }

  /// Slurm looks at a job once its begin time and its dependencies are over and limits allow it.
  bool Competes(const PendingJob& job) const {
    const bool begun = std::any_of(job.ways.begin(), job.ways.end(),
                                   [&](const JobWay& way) { return way.earliest <= now_; });
    return begun && WithinLimits(job) &&
           std::none_of(job.after.begin(), job.after.end(),
                        [&](int64_t id) { return open_.contains(id); });
  }

  /// Nodes for `way` out of what is free now, in the order in which Slurm fills them.
  GroupSlot FitNow(const JobWay& way) const {
    if (way.earliest > now_ || way.latest <= now_) return {};
    const GroupShape& shape = *way.shape;
    std::vector<int64_t> counts;
    std::vector<Resources> free;
    for (const Place& place : shape.places) {
      const Resources& left = free_[static_cast<size_t>(place.group)];
      counts.push_back(CountNow(place, way, left));
      free.push_back(left);
    }
    return TakeNodes(queue_.groups(), shape, counts, free, contents_, now_);
  }

  int64_t CountNow(const Place& place, const JobWay& way, const Resources& free) const {
    const NodeGroup& group = queue_.groups().groups()[static_cast<size_t>(place.group)];
    const int64_t end = way.duration >= kNever ? kNever : now_ + way.duration;
    for (const ReservedWindow& window : group.reserved) {
      if (window.reservation == way.shape->reservation) continue;
      if (window.start < end && window.end > now_) return 0;
    }
    return NodesThatFit(place, group.pooled(), free);
  }

  /// Whether the job would fit into what is free, whoever holds a reservation.
  bool FitsSomewhere(const PendingJob& job) {
    return std::any_of(job.ways.begin(), job.ways.end(), [&](const JobWay& way) {
      int64_t nodes = 0;
      for (const Place& place : way.shape->places) {
        const auto group = static_cast<size_t>(place.group);
        nodes += NodesThatFit(place, queue_.groups().groups()[group].pooled(), free_[group]);
        if (nodes >= way.shape->nodes) return true;
      }
      return false;
    });
  }

  void Start(const PendingJob& job, size_t way_index, const GroupSlot& slot) {
    if (&job == request_) {
      started_ = true;
      answer_ = {now_, static_cast<int32_t>(way_index), slot.nodes};
      return;
    }
    const JobWay& way = job.ways[way_index];
    Active active;
    active.id = job.id;
    active.until = way.duration >= kNever ? kNever : now_ + way.duration;
    active.end = active.until;
    if (job.run_time) {
      const auto index = static_cast<size_t>(&job - queue_.pending().data());
      const double ran = run_times_[queue_.running().size() + index];
      active.end =
          std::clamp<int64_t>(now_ + std::llround(ran), now_ + 1, std::max(active.until, now_ + 1));
    }
    active.caps = &job.caps;
    for (const PlacedNodes& placed : slot.nodes) {
      const Place& place = way.shape->places[static_cast<size_t>(placed.place)];
      active.shares.push_back({place.group, Times(place.each, placed.nodes)});
      free_[static_cast<size_t>(place.group)] -= active.shares.back().held;
    }
    for (const CapUse& use : job.caps) cap_use_[static_cast<size_t>(use.cap)] += use.amount;
    if (request_ == nullptr) {
      const auto index = static_cast<size_t>(&job - queue_.pending().data());
      played_.push_back({index, now_, active.end, active.shares});
    }
    Activate(std::move(active));
  }

  // ---- the two passes --------------------------------------------------------------------------

  /// Down the queue until, in each partition, the first job that does not fit.
  void MainPass() {
    blocked_.assign(queue_.snapshot().partitions.size(), false);
    int64_t tried = 0;
    for (size_t i = 0; i < pending_.size() && tried < options_.queue_depth && !started_;) {
      const PendingJob& job = *pending_[i];
      bool gone = false;
      if (Competes(job)) {
        for (size_t w = 0; w < job.ways.size() && !gone; ++w) {
          const auto partition = static_cast<size_t>(job.ways[w].partition);
          if (blocked_[partition] || job.ways[w].earliest > now_) continue;
          ++tried;
          const GroupSlot slot = FitNow(job.ways[w]);
          if (slot.start >= kNever) {
            blocked_[partition] = true;
            continue;
          }
          Start(job, w, slot);
          gone = true;
        }
      }
      if (gone) {
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
        if (std::all_of(blocked_.begin(), blocked_.end(), [](bool b) { return b; })) return;
      }
    }
  }

  void FillPlan() {
    for (size_t i = 0; i < hot_.size(); ++i) {
      if (hot_[i]) plan_.Reset(static_cast<int32_t>(i), now_, free_[i], contents_[i]);
    }
    for (const auto& [until, index] : by_until_) {
      if (until >= kNever) break;
      // Who is over its limit is planned to end at the next look.
      const int64_t time = std::max(until, now_ + 1);
      for (const GroupShare& share : actives_[index].shares) {
        if (IsHot(share.group)) plan_.Release(share.group, time, share.held);
      }
    }
  }

  /// How many jobs at the front of the queue the pass has to look at: behind the last one that
  /// would fit into what is free now, nobody can start.
  size_t LastThatFits() {
    size_t last = pending_.size();
    while (last > 0 && !FitsSomewhere(*pending_[last - 1])) --last;
    return last;
  }

  void BackfillPass() {
    size_t last = LastThatFits();
    if (last == 0) return;
    FillPlan();
    tried_by_user_.clear();
    tried_by_part_.clear();
    int64_t tried = 0;
    int64_t started = 0;
    for (size_t i = 0; i < last && tried < options_.max_job_test && !started_;) {
      const PendingJob& job = *pending_[i];
      if (!Competes(job) || HadItsTurns(job)) {
        ++i;
        continue;
      }
      ++tried;
      if (!PlanOne(job)) {
        ++i;
        continue;
      }
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      --last;
      while (last > i && !FitsSomewhere(*pending_[last - 1])) --last;
      if (options_.max_job_start > 0 && ++started >= options_.max_job_start) return;
    }
  }

  /// Whether bf_max_job_user or bf_max_job_part jobs of its owner or partition came before it.
  bool HadItsTurns(const PendingJob& job) {
    const bool user = options_.max_job_user > 0 && job.user >= 0 &&
                      ++tried_by_user_[job.user] > options_.max_job_user;
    const bool partition = options_.max_job_part > 0 &&
                           ++tried_by_part_[job.ways.front().partition] > options_.max_job_part;
    return user || partition;
  }

  /// Gives the job its slot in the plan; true when it starts now.
  bool PlanOne(const PendingJob& job) {
    GroupSlot best;
    size_t chosen = 0;
    for (size_t w = 0; w < job.ways.size(); ++w) {
      const JobWay& way = job.ways[w];
      GroupSlot slot =
          plan_.Earliest(*way.shape, way.duration, std::max(now_, way.earliest), way.latest);
      if (slot.start < best.start) {
        best = std::move(slot);
        chosen = w;
      }
    }
    if (best.start >= kNever || best.start > now_ + options_.window_seconds) return false;
    const JobWay& way = job.ways[chosen];
    const bool starts = best.start <= now_;
    if (starts || MayReserve(job)) plan_.Take(*way.shape, best, way.duration);
    if (starts) Start(job, chosen, best);
    return starts;
  }

  bool MayReserve(const PendingJob& job) const {
    return job.age + now_ >= options_.min_age_reserve_seconds &&
           job.rank.priority >= options_.min_priority_reserve;
  }

  const QueueModel& queue_;
  const PendingJob* request_;
  const int sample_;
  const SchedulerOptions& options_;
  GroupPlan plan_;
  std::vector<Resources> free_;     // by group, now
  std::vector<uint64_t> contents_;  // by group: who is there
  std::vector<int64_t> cap_use_;
  std::vector<bool> hot_;  // groups that are played
  bool everything_ = false;
  int64_t now_ = 0;
  int64_t phase_ = 0;
  std::vector<double> run_times_;  // of queue_.running(), then queue_.pending()
  std::vector<Active> actives_;
  Events ends_;
  std::vector<std::pair<int64_t, size_t>> by_until_;  // ascending
  std::vector<const PendingJob*> pending_;            // in order
  std::vector<int64_t> edges_;                        // descending
  std::vector<bool> blocked_;                         // partitions, in a main pass
  std::unordered_map<int32_t, int64_t> tried_by_user_;
  std::unordered_map<int32_t, int64_t> tried_by_part_;
  std::unordered_map<int64_t, int> wanted_ends_;
  std::unordered_map<int64_t, bool> open_;  // jobs that have not ended, where anybody waits for one
  bool started_ = false;
  PlayedStart answer_;
  std::vector<PlayedJob> played_;  // where there is no request
};

}  // namespace

PlayedStart PlayForward(const QueueModel& queue, const PendingJob& request, int sample) {
  return Player(queue, &request, sample).Run();
}

std::vector<PlayedJob> PlayQueue(const QueueModel& queue, int sample) {
  return Player(queue, nullptr, sample).RunQueue();
}

}  // namespace gpuadvise
