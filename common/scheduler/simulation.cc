// Simulation of the scheduler.
//
// Problem. Slurm plans with time limits, but jobs end earlier. A plan at the limits is off by hours
// to days. A plan with true run times is wrong too: the scheduler does not know them.
//
// Idea. Draw the true run time of every running and pending job, and future arrivals. Then process
// events in order: jobs end and arrive, and after each event Slurm's two passes run with what they
// know, the limits. The main pass starts jobs in queue order, up to the first job of each partition
// that does not fit. The backfill pass, every bf_interval, gives each job in order the earliest
// slot of a plan at the limits. Jobs whose slot is now start. Others reserve whole nodes against
// all jobs behind them, on a grid of bf_resolution, from when Slurm's strides through the ends of
// running jobs find room. The request is one of the jobs, at its own rank; the sample ends when it
// starts.
//
// Arrivals are drawn hour by hour from past submissions (coming_jobs.cc). Their priority is the one
// Slurm would give, minus the age that waiting jobs gain until then. They overtake by priority, or
// by backfill when short. Those that outrank the request reserve nodes as any job does, and so keep
// it out of gaps. Those behind it get no reservations: only later arrivals are behind them.
//
// Cost. A backfill pass plans only as far down the queue as some job still fits into free
// resources: on a full cluster usually none. Only node groups that can affect the request are
// simulated. Random numbers depend only on seed, sample and job id, so that alternatives are
// compared in the same future.
//
// Preemption (preemption.h). A job that may preempt does so where nothing is free: lowest priority
// first, then youngest. A preempted job waits again, with all of its work ahead (suspended jobs:
// the rest). If the request itself may be preempted, the sample continues to its end and reports
// the loss.
//
// Licences are usage limits (licence_caps.h). A powered-down node delays its first job until it is
// up.
//
// Fair share (fair_share.h). What starts and ends changes the usage of its association, and every
// PriorityCalcPeriod the queue is ordered anew by the factors that follow. Jobs on nodes that are
// not simulated go on as they are.
//
// Limits. Topology, PreemptExemptTime and GraceTime are not
// simulated. A node shared only by jobs of one user counts as whole. Work after a checkpoint counts
// as lost. docs/slurm-conf.md covers slurm.conf key by key; doubts.h reports what can affect an
// answer.
#include "common/scheduler/simulation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "common/base/job_random.h"
#include "common/scheduler/coming_jobs.h"
#include "common/scheduler/followed_waits.h"
#include "common/scheduler/group_plan.h"
#include "common/scheduler/job_duration_draw.h"
#include "common/scheduler/scheduler_cycle.h"
#include "common/scheduler/simulated_nodes.h"
#include "common/scheduler/simulated_shares.h"

namespace gpuadvise {
namespace {

// Slurm's delay before it considers a preempted job again.
constexpr int64_t kRequeueDelay = 121;

// Approximate number of backfill checks within a wait of any length.
constexpr int64_t kLooksInAWait = 32;

// Most arrivals in a future that is played for its own sake: all of them, within reason.
constexpr size_t kMostOfFuture = 20'000;

constexpr uint64_t kOwnRun = 0x6f776e;  // the request's random number

constexpr double kDelayedSeconds = 60;

class QueueSimulation final : public SchedulerEvents {
 public:
  // `request` null: the queue alone; `arrays` null: all of it, else what can affect their tasks.
  QueueSimulation(const QueueModel& queue, const PendingJob* request,
                  const ArraysInPlay* arrays = nullptr)
      : queue_(queue),
        request_(request),
        arrays_(arrays),
        options_(queue.scheduler()),
        everything_(NeedsEverything()),
        nodes_(queue, GroupsInScope()),
        shares_(queue),
        run_time_draw_(Questions()),
        passes_(queue, nodes_, pending_, *this) {
    FindSimulated();
  }

  // One sample. Starts from the original queue, reusing memory of the previous sample.
  SimulatedStart Play(int sample) {
    Restart(sample);
    return Run();
  }

  // The delay of one sample. REQUIRES: a request.
  std::optional<CausedDelay> Delay(int sample, double run_seconds) {
    followed_.emplace(request_->user);
    given_run_seconds_ = std::max(run_seconds, 1.0);
    is_in_ = true;
    const std::vector<int64_t> with = Waits(sample);
    if (answer_.start >= kNever) return {};
    is_in_ = false;
    return Compared(with, Waits(sample));
  }

  // The delay of one sample by arrays of `user`, for jobs that wait now or arrive within `window`.
  CausedDelay DelayByArrays(int sample, int32_t user, int64_t window) {
    followed_.emplace(user, window);
    is_in_ = true;
    const std::vector<int64_t> with = Waits(sample);
    is_in_ = false;
    return Compared(with, Waits(sample));
  }

  static CausedDelay Compared(const std::vector<int64_t>& with,
                              const std::vector<int64_t>& without) {
    CausedDelay delay;
    for (size_t i = 0; i < std::min(with.size(), without.size()); ++i) {
      const auto later = static_cast<double>(with[i] - without[i]);
      delay.seconds += later;
      delay.jobs += later > kDelayedSeconds ? 1 : 0;
    }
    return delay;
  }

  // Until all waiting jobs have started.
  SimulatedSample SimulateWholeQueue(int sample) {
    Restart(sample);
    for (const ActiveJob& job : nodes_.actives()) {
      others_.push_back({true, job.started, job.end, {}, job.held});
    }
    Run();
    std::sort(played_.begin(), played_.end(), [](const SimulatedJob& a, const SimulatedJob& b) {
      return std::tie(a.pending, a.start) < std::tie(b.pending, b.start);
    });
    return {std::move(played_), std::move(others_), nodes_.TakeHeld()};
  }

  // For `seconds`, or until `is_over` says so, which shortens `seconds` to what is known then.
  SimulatedSample SimulateFuture(int sample, int64_t& seconds, std::function<bool()> is_over) {
    played_until_ = seconds;
    is_over_ = std::move(is_over);
    SimulatedSample future = SimulateWholeQueue(sample);
    seconds = *played_until_;
    return future;
  }

 private:
  // ---- setup ----------------------------------------------------------------------------------

  void Restart(int sample) {
    sample_ = sample;
    now_ = phase_ = 0;
    done_ = false;
    own_run_ = -1;
    answer_ = {};
    left_ = 0;
    played_.clear();
    others_.clear();
    pending_.clear();
    open_.clear();
    edges_.clear();
    if (followed_) followed_->Restart(queue_.pending().size());
    nodes_.Restart();
    passes_.Restart();
    shares_.Restart();
    for (const UsageShare& elsewhere : usage_elsewhere_) {
      shares_.Add(elsewhere.leaf, elsewhere.per_second);
    }
    coming_.emplace(
        queue_, sample, [this](const PendingJob& job) { return IsSimulated(job); },
        played_until_ ? kMostOfFuture : ComingJobs::kMost);
    run_time_draw_.Draw(queue_.options().seed, static_cast<uint64_t>(sample), run_times_);
    for (const size_t i : simulated_running_) AddRunning(queue_.running()[i], i);
    AddPending();
    FollowDependencies();
    FindEdges();
  }

  // Finds what is simulated in every sample.
  void FindSimulated() {
    for (size_t i = 0; i < queue_.running().size(); ++i) {
      const RunningJob& job = queue_.running()[i];
      IsSimulated(job) ? simulated_running_.push_back(i) : usage_elsewhere_.push_back(job.usage);
    }
    for (size_t i = 0; i < queue_.pending().size(); ++i) {
      const PendingJob& job = queue_.pending()[i];
      if (IsSimulated(job) && !IsReplaced(job) && IsInPlay(job)) simulated_pending_.push_back(i);
    }
  }

  SimulatedStart Run() {
    if (!queue_.by_time_limit()) {
      const auto interval = static_cast<double>(options_.interval_seconds);
      phase_ = static_cast<int64_t>(
          interval * DrawUniform(queue_.options().seed, static_cast<uint64_t>(sample_), 0));
    }
    passes_.MainCycle(now_);
    answer_.at_once = done_;
    int64_t backfill_at = options_.backfill ? phase_ : kNever;
    bool changed = true;
    while (!done_ && !IsSettled()) {
      const int64_t next = NextEvent();
      const int64_t due = changed ? backfill_at : kNever;
      now_ = std::min(next, due);
      if (now_ >= kNever || now_ > queue_.options().horizon_seconds) break;
      if (next <= now_ && ProcessEvents()) {
        passes_.MainCycle(now_);
        changed = true;
        backfill_at = options_.backfill ? TickFrom(now_) : kNever;
      }
      if (!done_ && changed && now_ >= backfill_at) {
        passes_.BackfillCycle(now_);
        changed = false;
      }
    }
    return answer_;
  }

  // Whether all jobs whose starts are wanted have started, or are followed no longer.
  bool IsSettled() {
    if (played_until_) {
      if (now_ <= *played_until_ && is_over_()) played_until_ = std::max<int64_t>(now_ - 1, 0);
      return now_ > *played_until_ || (now_ == 0 && *played_until_ == 0);
    }
    if (followed_) return followed_->IsOver(now_);
    return request_ == nullptr && left_ == 0;
  }

  // REQUIRES: others are followed.
  std::vector<int64_t> Waits(int sample) {
    Play(sample);
    return followed_->Waits();
  }

  // Whether what is asked about may depend on jobs anywhere.
  bool NeedsEverything() const {
    if (queue_.preemption().enabled()) return true;
    if (request_ != nullptr) return !request_->caps.empty() || !request_->after.empty();
    return arrays_ == nullptr ||
           std::any_of(queue_.pending().begin(), queue_.pending().end(),
                       [&](const PendingJob& job) { return IsTask(job) && !job.caps.empty(); });
  }

  // Groups that can affect the request, including those of jobs that share a limit.
  std::vector<bool> GroupsInScope() const {
    std::vector<bool> in_scope(queue_.groups().groups().size(), everything_);
    if (everything_) return in_scope;
    std::vector<bool> components(in_scope.size(), false);
    const auto add = [&](const PendingJob& job) {
      for (const PartitionOption& option : job.options) {
        for (const GroupDemand& demand : option.requirements->demands) {
          components[static_cast<size_t>(ComponentOf(demand.group))] = true;
        }
      }
    };
    if (request_ != nullptr) add(*request_);
    for (const PendingJob& job : queue_.pending()) {
      if (IsTask(job) && IsInPlay(job)) add(job);
    }
    for (size_t i = 0; i < in_scope.size(); ++i) {
      in_scope[i] = components[static_cast<size_t>(ComponentOf(static_cast<int32_t>(i)))];
    }
    return in_scope;
  }

  int32_t ComponentOf(int32_t group) const {
    return queue_.component_of_group()[static_cast<size_t>(group)];
  }

  bool IsSimulated(const RunningJob& job) const {
    return everything_ || std::any_of(job.held.begin(), job.held.end(), [&](const HeldNodes& held) {
             return nodes_.IsInScope(held.group);
           });
  }

  bool IsSimulated(const PendingJob& job) const {
    return !job.held &&
           (everything_ ||
            std::any_of(job.options.begin(), job.options.end(), [&](const PartitionOption& option) {
              return !option.requirements->demands.empty() &&
                     nodes_.IsInScope(option.requirements->demands.front().group);
            }));
  }

  // Run-time questions of everything simulated: running jobs, then pending ones.
  std::vector<RunTimeQuestion> Questions() const {
    std::vector<RunTimeQuestion> questions;
    questions.reserve(queue_.running().size() + queue_.pending().size());
    for (const RunningJob& job : queue_.running()) {
      questions.push_back({static_cast<uint64_t>(job.id), job.burst, job.elapsed,
                           IsSimulated(job) ? job.run_time.get() : nullptr});
    }
    for (const PendingJob& job : queue_.pending()) {
      questions.push_back({(static_cast<uint64_t>(job.id) << 12) + static_cast<uint64_t>(job.task),
                           job.burst, 0, IsSimulated(job) ? job.run_time.get() : nullptr});
    }
    return questions;
  }

  void AddRunning(const RunningJob& job, size_t index) {
    ActiveJob active;
    active.id = job.id;
    active.until = job.until;
    active.end = job.until;
    if (job.run_time) {
      const int64_t rest = std::llround(run_times_[index] - job.elapsed);
      active.end = std::max<int64_t>(std::min(rest, job.until), 1);
    }
    active.held = nodes_.Hold(job.held);
    active.caps = &job.caps;
    active.usage = job.usage;
    shares_.Add(job.usage.leaf, job.usage.per_second);
    active.preempt_class = job.preempt_class;
    active.priority = job.priority;
    active.started = -std::llround(job.elapsed);
    active.run_seconds = job.run_time ? run_times_[index] : -1;
    active.requeued_as = job.requeued_as.get();
    nodes_.Resume(active);
  }

  void AddPending() {
    bool inserted = request_ == nullptr || !is_in_;
    for (const size_t i : simulated_pending_) {
      const PendingJob& job = queue_.pending()[i];
      if (!inserted && request_->rank < job.rank) {
        pending_.push_back(Request());
        inserted = true;
      }
      const double ran = job.run_time ? run_times_[queue_.running().size() + i] : -1;
      if (!is_in_ && IsTask(job)) continue;
      pending_.push_back({&job, job.rank, job.rank.priority, ran, 0, static_cast<int32_t>(i)});
      if (followed_) followed_->Add(i, job);
      if (IsWanted(job)) ++left_;
    }
    if (!inserted) pending_.push_back(Request());
  }

  // Tracks unfinished jobs that others depend on.
  void FollowDependencies() {
    const bool any = std::any_of(pending_.begin(), pending_.end(), [](const Waiting& waiting) {
      return !waiting.job->after.empty();
    });
    if (!any) return;
    for (const ActiveJob& job : nodes_.actives()) open_.insert(job.id);
    for (const Waiting& waiting : pending_) {
      if (waiting.job != request_) open_.insert(waiting.job->id);
    }
  }

  // Whether it is one of the arrays' tasks.
  bool IsTask(const PendingJob& job) const {
    return arrays_ != nullptr && job.id >= arrays_->first_id;
  }

  bool IsInPlay(const PendingJob& job) const {
    if (!IsTask(job)) return true;
    return job.task < arrays_->tasks[static_cast<size_t>(job.id - arrays_->first_id)];
  }

  // Whether the sample goes on until it has started.
  bool IsWanted(const PendingJob& job) const { return arrays_ == nullptr || IsTask(job); }

  bool IsReplaced(const PendingJob& job) const {
    return request_ != nullptr && request_->replaces_job == job.id && job.task == 0 && job.id != 0;
  }

  Waiting Request() const {
    Waiting waiting{request_, request_->rank, request_->rank.priority};
    if (followed_) {
      waiting.run_seconds = given_run_seconds_;
    } else if (request_->run_time) {
      const double u = DrawUniform(queue_.options().seed, static_cast<uint64_t>(sample_), kOwnRun);
      waiting.run_seconds = request_->run_time->Quantile(u);
    }
    return waiting;
  }

  // ---- time ------------------------------------------------------------------------------------

  int64_t TickFrom(int64_t time) const {
    if (queue_.by_time_limit()) return time;  // a plan: passes take no time
    // Checks further ahead may be further apart: the error is small compared with the wait.
    int64_t interval = options_.interval_seconds;
    const int64_t longest = queue_.options().every_interval ? 0 : time / (2 * kLooksInAWait);
    while (interval <= longest) interval *= 2;
    if (time <= phase_) return phase_;
    return phase_ + (time - phase_ + interval - 1) / interval * interval;
  }

  // Times other than job ends at which a job may become able to start.
  void FindEdges() {
    for (const Waiting& waiting : pending_) {
      for (const PartitionOption& option : waiting.job->options) {
        if (option.earliest > 0) edges_.push_back(option.earliest);
      }
    }
    for (size_t i = 0; i < queue_.groups().groups().size(); ++i) {
      if (!nodes_.IsInScope(static_cast<int32_t>(i))) continue;
      for (const ReservedWindow& window : queue_.groups().groups()[i].reserved) {
        if (window.end > 0 && window.end < kNever && !window.floats) edges_.push_back(window.end);
      }
      for (const ReservedPart& part : queue_.groups().groups()[i].parts) {
        if (part.end > 0 && part.end < kNever) edges_.push_back(part.end);
      }
    }
    std::sort(edges_.begin(), edges_.end(), std::greater<>());
  }

  int64_t NextEvent() {
    while (!edges_.empty() && edges_.back() <= now_) edges_.pop_back();
    const int64_t edge = edges_.empty() ? kNever : edges_.back();
    return std::min({nodes_.NextEnd(), edge, coming_->Next(now_), shares_.Next()});
  }

  // Whether a job may have become able to start.
  bool ProcessEvents() {
    bool news = !edges_.empty() && edges_.back() <= now_;
    if (nodes_.NextEnd() <= now_) {
      nodes_.EndUntil(now_, [&](const ActiveJob& job) { Ended(job); });
      news = true;
    }
    if (shares_.Next() <= now_ && shares_.Update(now_)) {
      OrderAnew();
      news = true;
    }
    while (coming_->Next(now_) <= now_) {
      const ComingJob& one = coming_->Take();
      Waiting waiting{one.job, one.rank, one.rank.priority, one.run_seconds, now_};
      waiting.rank.priority += shares_.Gained(one.job->usage.leaf);
      waiting.gaps_only = IsBehindTheRequest(waiting);
      if (followed_) waiting.arrival = followed_->Arrive(*one.job, now_);
      Queue(waiting);
      news = news || nodes_.FitsSomewhere(*waiting.job);
    }
    return news;
  }

  bool IsBehindTheRequest(const Waiting& waiting) const {
    if (request_ == nullptr) return true;
    Rank own = request_->rank;
    own.priority += shares_.Gained(request_->usage.leaf);
    return own < waiting.rank;
  }

  // By what fair share makes of their priorities now.
  void OrderAnew() {
    std::erase_if(pending_, [](const Waiting& waiting) { return waiting.gone; });
    for (Waiting& waiting : pending_) {
      waiting.rank.priority = waiting.priority + shares_.Gained(waiting.job->usage.leaf);
    }
    for (Waiting& waiting : pending_) {
      const bool arrived = waiting.index < 0 && waiting.job != request_ && !waiting.requeued;
      if (arrived) waiting.gaps_only = IsBehindTheRequest(waiting);
    }
    std::stable_sort(pending_.begin(), pending_.end(),
                     [](const Waiting& a, const Waiting& b) { return a.rank < b.rank; });
    passes_.Restart();
  }

  // Inserts a job by rank.
  void Queue(const Waiting& waiting) {
    const auto demand =
        std::upper_bound(pending_.begin(), pending_.end(), waiting,
                         [](const Waiting& a, const Waiting& b) { return a.rank < b.rank; });
    passes_.Insert(demand - pending_.begin(), waiting);
  }

  void Ended(const ActiveJob& job) {
    shares_.Add(job.usage.leaf, -job.usage.per_second);
    open_.erase(job.id);
    if (request_ == nullptr || followed_ || job.requeued_as != request_) return;
    done_ = true;
    answer_.lost_seconds = std::max<int64_t>(now_ - answer_.start - own_run_, 0);
  }

  void Lose(const ActiveJob& job) override {
    shares_.Add(job.usage.leaf, -job.usage.per_second);
    if (job.played >= 0) played_[static_cast<size_t>(job.played)].end = now_;
    const PreemptMode mode = queue_.preemption().ModeOf(job.preempt_class);
    const bool own = job.requeued_as == request_;
    if (mode == PreemptMode::kCancel && !own) {  // its user resubmits it some other day
      open_.erase(job.id);
      return;
    }
    const Rank& rank = job.requeued_as->rank;
    Waiting waiting{job.requeued_as, rank, rank.priority, job.run_seconds, now_};
    waiting.rank.priority += shares_.Gained(job.requeued_as->usage.leaf);
    waiting.requeued = true;
    if (job.played >= 0) {
      waiting.index = static_cast<int32_t>(played_[static_cast<size_t>(job.played)].pending);
    }
    if (mode == PreemptMode::kRequeue) waiting.not_before = now_ + kRequeueDelay;
    if (mode == PreemptMode::kSuspend) {
      waiting.run_seconds = static_cast<double>(std::max<int64_t>(job.end - now_, 1));
    }
    if (waiting.not_before > now_) {
      edges_.insert(
          std::lower_bound(edges_.begin(), edges_.end(), waiting.not_before, std::greater<>()),
          waiting.not_before);
    }
    Queue(waiting);
  }

  // ---- who may start ---------------------------------------------------------------------------

  // Slurm considers a job after its begin time, without open dependencies, within limits.
  bool Competes(const Waiting& waiting) const override {
    const PendingJob& job = *waiting.job;
    if (waiting.not_before > now_) return false;
    const bool begun =
        std::any_of(job.options.begin(), job.options.end(),
                    [&](const PartitionOption& option) { return option.earliest <= now_; });
    return begun && nodes_.WithinLimits(job) &&
           std::none_of(job.after.begin(), job.after.end(),
                        [&](int64_t id) { return open_.contains(id); });
  }

  bool Done() const override { return done_; }

  void Start(const Waiting& waiting, size_t option_index, const GroupSlot& slot) override {
    const PendingJob& job = *waiting.job;
    const PartitionOption& option = job.options[option_index];
    const bool safe = !queue_.preemption().MayLose(option.preempt_class);
    const int64_t boot = nodes_.Boot(option, slot, now_);
    if (&job == request_) {
      if (answer_.start >= kNever) {
        answer_.start = now_ + boot;
        answer_.option = static_cast<int32_t>(option_index);
        answer_.nodes = slot.nodes;
      }
      done_ = safe && !followed_;
      if (done_) return;
      if (followed_) followed_->RequestStarts(now_, given_run_seconds_);
    }
    ActiveJob active;
    active.id = job.id;
    active.until = option.duration >= kNever ? kNever : now_ + boot + option.duration;
    active.end = active.until;
    if (waiting.run_seconds >= 0) {
      active.end = std::clamp<int64_t>(now_ + boot + std::llround(waiting.run_seconds), now_ + 1,
                                       std::max(active.until, now_ + 1));
    }
    active.caps = &job.caps;
    active.usage = job.usage;
    shares_.Add(job.usage.leaf, job.usage.per_second);
    active.preempt_class = option.preempt_class;
    active.priority = waiting.rank.priority;
    active.started = now_;
    active.run_seconds = waiting.run_seconds;
    active.requeued_as = safe ? nullptr : &job;
    if (&job == request_ && own_run_ < 0) own_run_ = active.end - now_;
    active.held = nodes_.Hold(option, slot);
    if (waiting.index >= 0 && !waiting.requeued && IsWanted(job)) --left_;
    if (followed_) followed_->Starts(waiting, now_);
    if (waiting.index >= 0 && request_ == nullptr) {
      active.played = static_cast<int32_t>(played_.size());
      played_.push_back({static_cast<size_t>(waiting.index), now_, active.end, active.held});
    } else if (request_ == nullptr) {
      others_.push_back({false, now_, active.end, waiting.rank, active.held});
    }
    nodes_.Start(active);
  }

  const QueueModel& queue_;
  const PendingJob* request_;
  const ArraysInPlay* arrays_;
  std::optional<FollowedWaits> followed_;  // a delay is wanted: until others have started
  bool is_in_ = true;                      // the request, or the arrays' tasks
  double given_run_seconds_ = 0;
  std::optional<int64_t> played_until_;  // a future; nullopt: until all have started
  std::function<bool()> is_over_;        // of a future
  int sample_ = 0;
  const SchedulerOptions& options_;
  const bool everything_;
  SimulatedNodes nodes_;
  SimulatedShares shares_;
  std::vector<UsageShare> usage_elsewhere_;  // of running jobs that are not simulated
  std::vector<size_t> simulated_running_;    // indices in queue_.running()
  std::vector<size_t> simulated_pending_;    // indices in queue_.pending(), in order
  RunTimeDraw run_time_draw_;
  int64_t now_ = 0;
  int64_t phase_ = 0;
  std::vector<double> run_times_;  // by queue_.running(), then queue_.pending()
  std::vector<Waiting> pending_;   // in queue order
  size_t left_ = 0;                // waiting jobs of queue_.pending()
  std::optional<ComingJobs> coming_;
  std::vector<int64_t> edges_;  // descending
  SchedulerCycle passes_;
  std::unordered_set<int64_t> open_;  // unfinished jobs that others depend on
  bool done_ = false;
  int64_t own_run_ = -1;  // of the request, without preemption
  SimulatedStart answer_;
  std::vector<SimulatedJob> played_;  // only without a request
  std::vector<SimulatedOther> others_;
};

}  // namespace

SimulatedStart SimulateJob(const QueueModel& queue, const PendingJob& request, int sample) {
  return QueueSimulation(queue, &request).Play(sample);
}

std::vector<SimulatedStart> SimulateSamples(const QueueModel& queue, const PendingJob& request,
                                            int samples) {
  QueueSimulation simulation(queue, &request);
  std::vector<SimulatedStart> starts;
  starts.reserve(static_cast<size_t>(samples));
  for (int sample = 0; sample < samples; ++sample) {
    starts.push_back(simulation.Play(sample));
    if (!starts.front().at_once) continue;
    starts.resize(static_cast<size_t>(samples), SimulatedStart(starts.front()));
    break;
  }
  return starts;
}

std::optional<CausedDelay> SimulateDelay(const QueueModel& queue, const PendingJob& request,
                                         double run_seconds, int samples) {
  QueueSimulation simulation(queue, &request);
  CausedDelay sum;
  int started = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const std::optional<CausedDelay> one = simulation.Delay(sample, run_seconds);
    if (!one) continue;
    ++started;
    sum.seconds += one->seconds;
    sum.jobs += one->jobs;
  }
  if (started == 0) return {};
  return CausedDelay{std::max(sum.seconds / started, 0.0), sum.jobs / started};
}

std::vector<std::vector<SimulatedJob>> SimulateArrays(const QueueModel& queue, int samples,
                                                      const ArraysInPlay& arrays) {
  QueueSimulation simulation(queue, nullptr, &arrays);
  std::vector<std::vector<SimulatedJob>> played;
  for (int sample = 0; sample < samples; ++sample) {
    played.push_back(simulation.SimulateWholeQueue(sample).jobs);
  }
  return played;
}

CausedDelay SimulateArraysDelay(const QueueModel& queue, const ArraysInPlay& arrays,
                                int64_t seconds, int samples) {
  int32_t user = -1;
  for (const PendingJob& job : queue.pending()) {
    if (job.id >= arrays.first_id) user = job.user;
  }
  QueueSimulation simulation(queue, nullptr, &arrays);
  CausedDelay sum;
  for (int sample = 0; sample < samples; ++sample) {
    const CausedDelay one = simulation.DelayByArrays(sample, user, seconds);
    sum.seconds += one.seconds / samples;
    sum.jobs += one.jobs / samples;
  }
  return {std::max(sum.seconds, 0.0), sum.jobs};
}

SimulatedSample SimulateSample(const QueueModel& queue, int sample) {
  return QueueSimulation(queue, nullptr).SimulateWholeQueue(sample);
}

PlayedFutures SimulateFutures(const QueueModel& queue, PlayedFutures wanted,
                              const std::function<double()>& spent,
                              const std::function<void(const SimulatedSample&)>& use) {
  constexpr int kLeast = 4;
  QueueSimulation simulation(queue, nullptr);
  PlayedFutures played{0, wanted.seconds};
  for (; played.samples < wanted.samples; ++played.samples) {
    if (played.samples >= kLeast && spent() >= 1) break;
    const double most = std::min(1.0, (played.samples + 1.0) / kLeast);
    int64_t seconds = played.seconds;
    const SimulatedSample future =
        simulation.SimulateFuture(played.samples, seconds, [&] { return spent() >= most; });
    if (seconds < played.seconds && played.samples >= kLeast) break;
    played.seconds = seconds;
    use(future);
  }
  return played;
}

}  // namespace gpuadvise
