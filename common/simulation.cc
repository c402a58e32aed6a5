// Playing the scheduler forward.
//
// Problem. A job starts when Slurm gets to it, and Slurm plans with time limits while jobs end when
// they end. A plan at the limits is off by hours to days; a plan with the true run times is wrong
// too, because the scheduler did not know them.
//
// Idea. Draw for every running and pending job how long it will really run, and who else will come;
// then play events in order: jobs end and arrive, and after each Slurm's two passes look at the
// queue with what they know, which is the limits. The main pass goes down the queue and starts what
// fits until the first job of a partition that does not. The backfill pass, every bf_interval,
// gives each job in order the earliest slot of a plan at the limits; those whose slot is now start,
// the others keep their slot against everyone behind them. The request is one of the jobs, at its
// own rank; the sample is over when it starts.
//
// Who comes later is drawn hour by hour from the submissions of the past (coming_jobs.cc) and has
// the priority that Slurm would give it, less what those who wait gain by age until then. It
// overtakes by priority, or by being short where the first of the queue waits for much; it is not
// promised nodes ahead of time, for behind it comes only who arrives later still.
//
// Cost. A backfill pass plans only as far down the queue as a job is left that would fit into what
// is free now: on a full cluster that is mostly nobody. Only groups of nodes that the request's
// fate can depend on are played. Random numbers depend on seed, sample and job id alone, so that
// alternatives are compared in the same future.
//
// Where it is wrong. Fair share does not change as time passes; licences, topology, bf_resolution
// and preemption are not played; a job runs once and is not requeued.
#include "common/simulation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "common/coming_jobs.h"
#include "common/group_plan.h"
#include "common/job_random.h"
#include "common/run_time_draw.h"
#include "common/simulated_nodes.h"

namespace gpuadvise {
namespace {

/// A place in the queue of the sample.
struct Waiting {
  const PendingJob* job = nullptr;
  Rank rank;
  double run_seconds = -1;  // below 0: until its limit
  int64_t since = 0;        // when it arrived
  int32_t index = -1;       // in queue.pending(); -1: the request, or one that arrived
};

class Player {
 public:
  /// `request` null: the queue alone.
  Player(const QueueModel& queue, const PendingJob* request, int sample)
      : queue_(queue),
        request_(request),
        sample_(sample),
        options_(queue.scheduler()),
        everything_(request == nullptr || !request->caps.empty() || !request->after.empty()),
        nodes_(queue, HotGroups()),
        coming_(queue, sample, [this](const PendingJob& job) { return IsPlayed(job); }) {
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
    while (!started_ && !(request_ == nullptr && left_ == 0)) {
      const int64_t next = NextEvent();
      const int64_t due = changed ? backfill_at : kNever;
      now_ = std::min(next, due);
      if (now_ >= kNever || now_ > queue_.options().horizon_seconds) return {};
      if (next <= now_ && SeeEvents()) {
        MainPass();
        changed = true;
        backfill_at = options_.backfill ? TickFrom(now_) : kNever;
      }
      if (!started_ && changed && now_ >= backfill_at) {
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
  // ---- setting up ----------------------------------------------------------------------------

  /// Groups that the request's fate can depend on. Whoever shares a limit with jobs elsewhere
  /// depends on them too.
  std::vector<bool> HotGroups() const {
    std::vector<bool> hot(queue_.groups().groups().size(), everything_);
    if (everything_) return hot;
    std::vector<bool> components(hot.size(), false);
    for (const JobWay& way : request_->ways) {
      for (const Place& place : way.shape->places) {
        components[static_cast<size_t>(ComponentOf(place.group))] = true;
      }
    }
    for (size_t i = 0; i < hot.size(); ++i) {
      hot[i] = components[static_cast<size_t>(ComponentOf(static_cast<int32_t>(i)))];
    }
    return hot;
  }

  int32_t ComponentOf(int32_t group) const {
    return queue_.component_of_group()[static_cast<size_t>(group)];
  }

  bool IsPlayed(const RunningJob& job) const {
    return everything_ || std::any_of(job.shares.begin(), job.shares.end(),
                                      [&](const GroupShare& s) { return nodes_.IsHot(s.group); });
  }

  bool IsPlayed(const PendingJob& job) const {
    return !job.held &&
           (everything_ || std::any_of(job.ways.begin(), job.ways.end(), [&](const JobWay& way) {
              return !way.shape->places.empty() && nodes_.IsHot(way.shape->places.front().group);
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
    ActiveJob active;
    active.id = job.id;
    active.until = job.until;
    active.end = job.until;
    if (job.run_time) {
      const int64_t rest = std::llround(run_times_[index] - job.elapsed);
      active.end = std::max<int64_t>(std::min(rest, job.until), 1);
    }
    active.shares = job.shares;
    active.caps = &job.caps;
    if (active.end > now_) open_.insert(job.id);
    nodes_.Resume(std::move(active));
  }

  void AddPending() {
    bool inserted = request_ == nullptr;
    for (size_t i = 0; i < queue_.pending().size(); ++i) {
      const PendingJob& job = queue_.pending()[i];
      if (!inserted && request_->rank < job.rank) {
        pending_.push_back({request_, request_->rank, -1, 0, -1});
        inserted = true;
      }
      if (!IsPlayed(job)) continue;
      const double ran = job.run_time ? run_times_[queue_.running().size() + i] : -1;
      pending_.push_back({&job, job.rank, ran, 0, static_cast<int32_t>(i)});
      open_.insert(job.id);
      ++left_;
    }
    if (!inserted) pending_.push_back({request_, request_->rank, -1, 0, -1});
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
    for (const Waiting& waiting : pending_) {
      for (const JobWay& way : waiting.job->ways) {
        if (way.earliest > 0) edges_.push_back(way.earliest);
      }
    }
    for (size_t i = 0; i < queue_.groups().groups().size(); ++i) {
      if (!nodes_.IsHot(static_cast<int32_t>(i))) continue;
      for (const ReservedWindow& window : queue_.groups().groups()[i].reserved) {
        if (window.end > 0 && window.end < kNever) edges_.push_back(window.end);
      }
    }
    std::sort(edges_.begin(), edges_.end(), std::greater<>());
  }

  int64_t NextEvent() {
    while (!edges_.empty() && edges_.back() <= now_) edges_.pop_back();
    const int64_t edge = edges_.empty() ? kNever : edges_.back();
    return std::min({nodes_.NextEnd(), edge, coming_.Next(now_)});
  }

  /// Whether somebody may be able to start who was not before.
  bool SeeEvents() {
    bool news = !edges_.empty() && edges_.back() <= now_;
    if (nodes_.NextEnd() <= now_) {
      nodes_.EndUntil(now_, [&](int64_t id) { open_.erase(id); });
      news = true;
    }
    while (coming_.Next(now_) <= now_) {
      const ComingJob& one = coming_.Take();
      const Waiting waiting{one.job, one.rank, one.run_seconds, now_, -1};
      const auto place = std::upper_bound(
          pending_.begin(), pending_.end(), waiting,
          [](const Waiting& a, const Waiting& b) { return a.rank < b.rank; });
      pending_.insert(place, waiting);
      news = news || nodes_.FitsSomewhere(*waiting.job);
    }
    return news;
  }

  // ---- who may start ---------------------------------------------------------------------------

  /// Slurm looks at a job once its begin time and its dependencies are over and limits allow it.
  bool Competes(const PendingJob& job) const {
    const bool begun = std::any_of(job.ways.begin(), job.ways.end(),
                                   [&](const JobWay& way) { return way.earliest <= now_; });
    return begun && nodes_.WithinLimits(job) &&
           std::none_of(job.after.begin(), job.after.end(),
                        [&](int64_t id) { return open_.contains(id); });
  }

  void Start(const Waiting& waiting, size_t way_index, const GroupSlot& slot) {
    const PendingJob& job = *waiting.job;
    if (&job == request_) {
      started_ = true;
      answer_ = {now_, static_cast<int32_t>(way_index), slot.nodes};
      return;
    }
    const JobWay& way = job.ways[way_index];
    ActiveJob active;
    active.id = job.id;
    active.until = way.duration >= kNever ? kNever : now_ + way.duration;
    active.end = active.until;
    if (waiting.run_seconds >= 0) {
      active.end = std::clamp<int64_t>(now_ + std::llround(waiting.run_seconds), now_ + 1,
                                       std::max(active.until, now_ + 1));
    }
    active.caps = &job.caps;
    for (const PlacedNodes& placed : slot.nodes) {
      const Place& place = way.shape->places[static_cast<size_t>(placed.place)];
      active.shares.push_back({place.group, Times(place.each, placed.nodes)});
    }
    if (waiting.index >= 0) {
      --left_;
      if (request_ == nullptr) {
        played_.push_back(
            {static_cast<size_t>(waiting.index), now_, active.end, active.shares});
      }
    }
    nodes_.Start(std::move(active));
  }

  // ---- the two passes --------------------------------------------------------------------------

  /// Down the queue until, in each partition, the first job that does not fit.
  void MainPass() {
    blocked_.assign(queue_.snapshot().partitions.size(), false);
    int64_t tried = 0;
    for (size_t i = 0; i < pending_.size() && tried < options_.queue_depth && !started_;) {
      const Waiting waiting = pending_[i];
      const PendingJob& job = *waiting.job;
      bool gone = false;
      if (Competes(job)) {
        for (size_t w = 0; w < job.ways.size() && !gone; ++w) {
          const auto partition = static_cast<size_t>(job.ways[w].partition);
          if (blocked_[partition] || job.ways[w].earliest > now_) continue;
          ++tried;
          const GroupSlot slot = nodes_.FitNow(job.ways[w], now_);
          if (slot.start >= kNever) {
            blocked_[partition] = true;
            continue;
          }
          Start(waiting, w, slot);
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

  /// How many jobs at the front of the queue the pass has to look at: behind the last one that
  /// would fit into what is free now, nobody can start.
  size_t LastThatFits() {
    size_t last = pending_.size();
    while (last > 0 && !nodes_.FitsSomewhere(*pending_[last - 1].job)) --last;
    return last;
  }

  void BackfillPass() {
    size_t last = LastThatFits();
    if (last == 0) return;
    GroupPlan& plan = nodes_.PlanAt(now_);
    tried_by_user_.clear();
    tried_by_part_.clear();
    int64_t tried = 0;
    int64_t started = 0;
    for (size_t i = 0; i < last && tried < options_.max_job_test && !started_;) {
      const Waiting waiting = pending_[i];
      const bool overtakes = waiting.index < 0 && waiting.job != request_;
      if (overtakes && !nodes_.FitsSomewhere(*waiting.job)) {
        ++i;
        continue;
      }
      if (!Competes(*waiting.job) || HadItsTurns(*waiting.job)) {
        ++i;
        continue;
      }
      ++tried;
      if (!PlanOne(plan, waiting)) {
        ++i;
        continue;
      }
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      --last;
      while (last > i && !nodes_.FitsSomewhere(*pending_[last - 1].job)) --last;
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
  bool PlanOne(GroupPlan& plan, const Waiting& waiting) {
    const PendingJob& job = *waiting.job;
    const bool arrived = waiting.index < 0 && &job != request_;
    GroupSlot best;
    size_t chosen = 0;
    for (size_t w = 0; w < job.ways.size(); ++w) {
      const JobWay& way = job.ways[w];
      const int64_t latest = arrived ? std::min(way.latest, now_ + 1) : way.latest;
      GroupSlot slot =
          plan.Earliest(*way.shape, way.duration, std::max(now_, way.earliest), latest);
      if (slot.start < best.start) {
        best = std::move(slot);
        chosen = w;
      }
    }
    if (best.start >= kNever || best.start > now_ + options_.window_seconds) return false;
    const JobWay& way = job.ways[chosen];
    const bool starts = best.start <= now_;
    if (starts || MayReserve(waiting)) plan.Take(*way.shape, best, way.duration);
    if (starts) Start(waiting, chosen, best);
    return starts;
  }

  bool MayReserve(const Waiting& waiting) const {
    return waiting.job->age + now_ - waiting.since >= options_.min_age_reserve_seconds &&
           waiting.rank.priority >= options_.min_priority_reserve;
  }

  const QueueModel& queue_;
  const PendingJob* request_;
  const int sample_;
  const SchedulerOptions& options_;
  const bool everything_;
  SimulatedNodes nodes_;
  int64_t now_ = 0;
  int64_t phase_ = 0;
  std::vector<double> run_times_;  // of queue_.running(), then queue_.pending()
  std::vector<Waiting> pending_;   // in order
  size_t left_ = 0;                // of queue_.pending() that wait
  ComingJobs coming_;
  std::vector<int64_t> edges_;     // descending
  std::vector<bool> blocked_;      // partitions, in a main pass
  std::unordered_map<int32_t, int64_t> tried_by_user_;
  std::unordered_map<int32_t, int64_t> tried_by_part_;
  std::unordered_set<int64_t> open_;  // jobs that have not ended
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
