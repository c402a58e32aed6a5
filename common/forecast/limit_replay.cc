// What would shorter limits have been worth to a user?
//
// Problem. Before a job is submitted, common/forecast/limit_advice.cc says what a shorter limit
// brings. Afterwards it is known how long everybody ran; what each job would have waited with
// another limit is not: the scheduler did not try.
//
// Idea. The recorded days are played twice through the simulation, with the run times that
// everybody really had: once with the limits that the user's jobs had, once with the limit of their
// group, the shortest that 95 % of the group's runs would have stayed under. What is told is the
// difference of the two plays, not that of a play and what was recorded, so that the errors of the
// simulation are in both and mostly cancel. Each half day with jobs of the user is a play of its
// own, which begins with who really ran and waited then, so that no error lasts longer; what was
// submitted in the day and a half after it is played too and not looked at. A run that the shorter
// limit cuts off is submitted again with its old limit as soon as it is cut; its second wait
// counts. When in the backfill interval the days begin is not known and moves single jobs by much,
// so pairs are played at several such phases: the mean is told, with the least and the most.
//
// Who ran when the days begin is played as a job of the highest rank with what was left of its run;
// the nodes that it had are not recorded. The order of the queue is that of submission, or with
// priority/multifactor the priority that was seen at submission, less what others gain by age until
// then; what was not seen gets the priority that it would have now.
//
// Why not compare with the recorded waits: a simulation that is 10 % off would show that as gain.
//
// Cost. Six plays of each half day, the newest first, until `stop` says so: then what was played by
// then is told. docs/limits.md has figures.
//
// Where it is wrong. Nodes, partitions and limits on use are those of now, not of then; past
// reservations and dependencies are not played (a job counts from when it was eligible). What the
// limit would have been is known only afterwards: the next runs may be longer. Others do not change
// their limits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/base/slurm_time.h"
#include "common/forecast/past_limits.h"
#include "common/forecast/start_of.h"
#include "common/scheduler/simulation.h"
#include "common/slurm/policy.h"
#include "common/slurm/priority.h"

namespace gpuadvise {
namespace {

constexpr int64_t kPlayedSpan = 12 * kHourSeconds;    // jobs of so long are looked at in a play
constexpr int64_t kPlayedAfter = 36 * kHourSeconds;   // and others submitted so long after them
constexpr int kPlays = 3;                             // phases of the backfill interval
constexpr int64_t kLongestLimit = 365 * kDaySeconds;  // of a job without one
constexpr int64_t kTopPriority = int64_t{1} << 40;    // of who runs already
constexpr int64_t kFirstPriority = int64_t{1} << 31;  // of the first in order of submission
constexpr int64_t kHorizonAfter = 14 * kDaySeconds;   // jobs start by then or not at all

// A job of the days that are played.
struct Played {
  const PastJob* past = nullptr;
  int64_t id = 0;     // in the play; that of a second try is id + kSecondTry
  int64_t run = 0;    // what is left of it
  int64_t limit = 0;  // what is left of that
  UnixSeconds eligible = 0;
  size_t group = 0;        // of the user's jobs: index in review.groups
  bool shortened = false;  // of the user: it has its group's limit in the second play
  bool own = false;        // and is looked at
};

constexpr int64_t kSecondTry = int64_t{1} << 32;

JobRequest RequestFrom(const JobRecord& record) {
  JobRequest request;
  request.partitions = {record.partition};
  request.nodes_min = std::max<int64_t>(record.nodes, 1);
  request.tasks = request.nodes_min;
  request.cpus = std::max(record.cpus, request.nodes_min);
  request.cpus_per_task = std::max<int64_t>(request.cpus / request.nodes_min, 1);
  if (record.gpus > 0 && record.gpus % request.nodes_min == 0) {
    request.gpus_per_node = {{record.gpu, record.gpus / request.nodes_min}};
  } else if (record.gpus > 0) {
    request.gpus_total = {{record.gpu, record.gpus}};
  }
  return request;
}

// Groups of the review by name, partition and GPU type.
using GroupPlaces = std::map<std::tuple<std::string, std::string, std::string>, size_t>;

// What is played at once. Looked at are jobs of the user that were eligible from `from` to `to`.
class Days {
 public:
  Days(const ReplayQuestion& question, const PastLimits& review, const GroupPlaces& groups,
       const PriorityScale& scale, UnixSeconds from, UnixSeconds to)
      : question_(question), review_(review), groups_(groups), scale_(scale), from_(from), to_(to) {
    Collect();
  }

  const std::vector<Played>& jobs() const { return jobs_; }
  UnixSeconds from() const { return from_; }
  UnixSeconds until() const { return until_; }

  // The limit of the user's job in the second play.
  int64_t ShorterLimit(const Played& job) const {
    const auto& limit = review_.groups[job.group].limit;
    return job.shortened && limit ? std::min(*limit, job.limit) : job.limit;
  }
  bool IsCut(const Played& job) const { return job.run > ShorterLimit(job); }

  // The cluster with all of these jobs in its queue.
  std::shared_ptr<const Snapshot> Queue(bool shorter) const {
    auto snapshot = std::make_shared<Snapshot>(question_.snapshot);
    snapshot->taken_at = from_;
    snapshot->jobs.clear();
    for (const Played& job : jobs_) {
      Job one = JobOf(job);
      if (shorter) one.request.time_limit_seconds = ShorterLimit(job);
      snapshot->jobs.push_back(std::move(one));
    }
    for (const Played& job : jobs_) {
      if (!shorter || !IsCut(job)) continue;
      Job again = JobOf(job);
      again.id = job.id + kSecondTry;
      again.dependency = fmt::format("afterany:{}", job.id);
      again.priority = PriorityOf(job, *job.past->record.start + ShorterLimit(job));
      snapshot->jobs.push_back(std::move(again));
    }
    return snapshot;
  }

  std::unordered_map<int64_t, double> RunTimes() const {
    std::unordered_map<int64_t, double> times;
    for (const Played& job : jobs_) {
      times[job.id] = times[job.id + kSecondTry] = static_cast<double>(job.run);
    }
    return times;
  }

 private:
  void Collect() {
    for (const PastJob& past : question_.jobs) {
      const JobRecord& record = past.record;
      if (!record.start || !record.end || *record.end <= from_) continue;
      if (record.eligible >= to_ + kPlayedAfter) continue;
      Played job;
      job.past = &past;
      job.id = static_cast<int64_t>(jobs_.size()) + 1;  // a number may have been used twice
      const int64_t ran = std::max<int64_t>(from_ - *record.start, 0);
      const int64_t limit = record.limit_seconds.has_value() && record.limit_seconds.value() > 0
                                ? record.limit_seconds.value()
                                : kLongestLimit;
      job.limit = std::max<int64_t>(limit - ran, 1);
      job.run = std::clamp<int64_t>(*record.end - *record.start - ran, 1, job.limit);
      job.eligible = std::max(record.eligible, from_);
      job.shortened = record.user == question_.user && HasRun(record) && *record.start >= from_ &&
                      FindGroup(record, job.group);
      job.own = job.shortened && record.eligible >= from_ && record.eligible < to_;
      until_ = std::max(until_, *record.end);
      jobs_.push_back(job);
    }
    for (const Played& job : jobs_) submissions_.push_back(job.past->record.eligible);
    std::sort(submissions_.begin(), submissions_.end());
  }

  bool FindGroup(const JobRecord& record, size_t& group) const {
    auto found = groups_.find({NameStem(record.name), record.partition, ""});
    if (found == groups_.end()) found = groups_.find({"", record.partition, record.gpu});
    if (found == groups_.end()) return false;
    group = found->second;
    return true;
  }

  Job JobOf(const Played& job) const {
    const JobRecord& record = job.past->record;
    Job one = job.past->submission ? *job.past->submission : Job();
    if (!job.past->submission) {
      one.name = record.name;
      one.user = record.user;
      one.account = record.account;
      one.qos = record.qos;
      one.request = RequestFrom(record);
    }
    one.id = job.id;
    one.array_job_id = one.het_job_id = one.array_throttle = 0;
    one.array_task_count = 1;
    one.array_tasks.clear();
    one.state = JobState::kPending;
    one.reason = "Priority";
    one.dependency.clear();
    one.request.begin_time.reset();
    one.request.reservation.clear();
    one.request.time_limit_seconds = job.limit;
    one.submit_time = one.eligible_time = job.eligible;
    one.start_time.reset();
    one.end_time.reset();
    one.allocations.clear();
    const bool ran = *record.start < from_;
    one.priority = ran ? kTopPriority - job.id : PriorityOf(job, record.eligible);
    return one;
  }

  // Of a job that becomes eligible at `time`, in the order of the whole queue.
  int64_t PriorityOf(const Played& job, UnixSeconds time) const {
    const SchedulerConfig& config = question_.snapshot.config;
    if (config.priority_type != "priority/multifactor") {
      const auto before = std::lower_bound(submissions_.begin(), submissions_.end(), time);
      return kFirstPriority - (before - submissions_.begin());
    }
    const double by_age = config.priority_max_age_seconds > 0
                              ? static_cast<double>(config.weights.age) *
                                    static_cast<double>(time - from_) /
                                    static_cast<double>(config.priority_max_age_seconds)
                              : 0;
    return kFirstPriority + PriorityAtSubmission(*job.past) - std::llround(by_age);
  }

  int64_t PriorityAtSubmission(const PastJob& past) const {
    if (past.submission && past.submission->priority > 0) return past.submission->priority;
    const JobRecord& record = past.record;
    const Partition* partition = FindPartition(question_.snapshot, record.partition);
    if (partition == nullptr) return 0;
    return PredictPriority(question_.snapshot, scale_, RequestFrom(record), *partition,
                           {-1, record.user, record.account, record.qos})
        .total;
  }

  const ReplayQuestion& question_;
  const PastLimits& review_;
  const GroupPlaces& groups_;
  const PriorityScale& scale_;
  const UnixSeconds from_, to_;
  std::vector<Played> jobs_;
  std::vector<UnixSeconds> submissions_;  // ascending
  UnixSeconds until_ = 0;
};

// One queue, to be played at several phases.
class Plays {
 public:
  Plays(const Days& days, bool shorter)
      : run_times_(days.RunTimes()), queue_(Prepare(days, shorter, run_times_, nothing_)) {}

  // Start and end of each job by its id, from the beginning of the days.
  std::unordered_map<int64_t, std::pair<int64_t, int64_t>> Play(int phase) const {
    std::unordered_map<int64_t, std::pair<int64_t, int64_t>> times;
    for (const PlayedJob& job : SimulateQueue(*queue_, phase)) {
      times[queue_->pending()[job.pending].id] = {job.start, job.end};
    }
    return times;
  }

 private:
  static std::shared_ptr<const QueueModel> Prepare(const Days& days, bool shorter,
                                                   const std::unordered_map<int64_t, double>& times,
                                                   const ForecastHistory& nothing) {
    SimulationOptions options;
    options.samples = kPlays;
    options.known_run_times = &times;
    auto snapshot = days.Queue(shorter);
    options.horizon_seconds = days.until() - snapshot->taken_at + kHorizonAfter;
    return PrepareQueue(std::move(snapshot), nothing, options);
  }

  const std::unordered_map<int64_t, double> run_times_;
  const ForecastHistory nothing_;
  const std::shared_ptr<const QueueModel> queue_;
};

// What one pair of plays came to.
struct PairSums {
  double own_wait = 0, wait = 0, recorded = 0, redone = 0;
  int64_t jobs = 0, cut = 0;
  std::vector<double> saved_of;  // by group
  std::vector<int64_t> jobs_of;
};

// Adds what the pair of plays at one phase came to.
void AddPair(const Days& days, const Plays& own, const Plays& shorter, int phase, PairSums& sums) {
  const auto before = own.Play(phase);
  const auto after = shorter.Play(phase);
  for (const Played& job : days.jobs()) {
    const auto a = before.find(job.id), b = after.find(job.id);
    if (!job.own || a == before.end() || b == after.end()) continue;
    const auto own_wait = static_cast<double>(a->second.first - (job.eligible - days.from()));
    auto wait = static_cast<double>(b->second.first - (job.eligible - days.from()));
    if (days.IsCut(job)) {
      const auto again = after.find(job.id + kSecondTry);
      if (again == after.end()) continue;
      wait += static_cast<double>(again->second.first - b->second.second);
      sums.redone += static_cast<double>(days.ShorterLimit(job));
      ++sums.cut;
    }
    ++sums.jobs;
    sums.own_wait += own_wait;
    sums.wait += wait;
    sums.recorded += static_cast<double>(*job.past->record.start - job.past->record.eligible);
    sums.saved_of[job.group] += own_wait - wait;
    ++sums.jobs_of[job.group];
  }
}

// Beginnings of the spans with jobs to look at, the newest first.
std::vector<UnixSeconds> SpansOf(const ReplayQuestion& question) {
  std::set<UnixSeconds, std::greater<>> spans;
  for (const PastJob& past : question.jobs) {
    const JobRecord& record = past.record;
    const bool own = record.user == question.user && HasRun(record);
    if (!own || record.eligible < question.from) continue;
    spans.insert(record.eligible - (record.eligible - question.from) % kPlayedSpan);
  }
  return {spans.begin(), spans.end()};
}

void TellReplay(const std::array<PairSums, kPlays>& pairs, LimitReplay replay, PastLimits& review) {
  const PairSums& first = pairs.front();
  replay.own_jobs = first.jobs;
  replay.cut = first.cut;
  replay.redone_seconds = first.redone;
  replay.recorded_wait = first.recorded;
  replay.saved_low = replay.saved_high = first.own_wait - first.wait;
  for (const PairSums& pair : pairs) {
    replay.own_wait += pair.own_wait / kPlays;
    replay.wait += pair.wait / kPlays;
    replay.saved_low = std::min(replay.saved_low, pair.own_wait - pair.wait);
    replay.saved_high = std::max(replay.saved_high, pair.own_wait - pair.wait);
  }
  for (size_t i = 0; i < review.groups.size(); ++i) {
    PastLimitGroup& group = review.groups[i];
    group.replayed = first.jobs_of[i];
    if (group.replayed == 0) continue;
    double saved = 0;
    for (const PairSums& pair : pairs) saved += pair.saved_of[i] / kPlays;
    group.saved_seconds = saved;
  }
  review.replay = replay;
}

}  // namespace

void ReplayLimits(const ReplayQuestion& question, PastLimits& review) {
  if (std::none_of(review.groups.begin(), review.groups.end(),
                   [](const PastLimitGroup& group) { return group.limit.has_value(); })) {
    review.no_replay =
        "no group of these jobs has five complete runs and a limit much longer than 95 % of them "
        "needed";
    return;
  }
  const std::vector<UnixSeconds> spans = SpansOf(question);
  if (spans.empty()) {
    review.no_replay = "none of these jobs is within the days that can be replayed";
    return;
  }
  GroupPlaces groups;
  for (size_t i = 0; i < review.groups.size(); ++i) {
    const PastLimitGroup& group = review.groups[i];
    groups[{group.name, group.partition, group.gpu}] = i;
  }
  const PriorityScale scale = ScaleOf(question.snapshot);
  std::array<PairSums, kPlays> pairs;
  for (PairSums& pair : pairs) {
    pair.saved_of.resize(review.groups.size());
    pair.jobs_of.resize(review.groups.size());
  }
  LimitReplay replay;
  for (const UnixSeconds from : spans) {
    if (question.stop && question.stop()) break;
    const Days days(question, review, groups, scale, from, from + kPlayedSpan);
    const Plays own(days, false), shorter(days, true);
    for (int phase = 0; phase < kPlays; ++phase) {
      AddPair(days, own, shorter, phase, pairs[static_cast<size_t>(phase)]);
    }
    replay.from = from;
    replay.until = std::max(replay.until, from + kPlayedSpan);
    ++replay.spans;
  }
  if (replay.spans == 0) {
    review.no_replay =
        "replaying the recorded days exceeds the time limit of a question; ask for fewer (--since)";
    return;
  }
  replay.all_jobs =
      std::count_if(question.jobs.begin(), question.jobs.end(), [&](const PastJob& past) {
        return past.record.end && *past.record.end > replay.from &&
               past.record.eligible < replay.until + kPlayedAfter;
      });
  TellReplay(pairs, replay, review);
}

std::optional<UnixSeconds> ReplayFrom(const std::vector<JobRecord>& own) {
  std::optional<UnixSeconds> from;
  for (const JobRecord& job : own) {
    if (HasRun(job)) from = std::min(from.value_or(job.eligible), job.eligible);
  }
  return from;
}

}  // namespace gpuadvise
