// The played queue against what must hold for every cluster, and against a slow obvious model.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "common/forecast/start_of.h"
#include "common/history/forecast_history.h"
#include "common/scheduler/competing_jobs.h"
#include "common/scheduler/queue_model.h"
#include "common/scheduler/simulation.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const Submitter kAnn{1001, "ann", "lab", "normal"};
constexpr int64_t kStep = 600;  // every time in these worlds is a multiple

int Draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

std::string Minutes(int tens) { return std::to_string(10 * tens) + "m"; }

// A cluster's nodes and what runs on them: two GPU types, some nodes with both. `alike`: all nodes
// are equal. Running jobs take GPUs one by one and fit together.
std::string DrawNodes(int count, bool alike) {
  static const std::vector<std::vector<std::string>> kKinds = {{"a:4"}, {"a:2", "b:2"}, {"b:2"}};
  std::ostringstream text;
  for (int n = 1; n <= count; ++n) {
    const auto& kind = kKinds[alike ? 0 : static_cast<size_t>(Draw(0, 2))];
    text << "node n" << n << " cpus 8 mem 16000";
    for (const std::string& gpus : kind) text << " " << gpus;
    text << "\n";
    for (size_t g = 0; g < kind.size(); ++g) {
      for (int i = Draw(0, 2); i > 0; --i) {
        text << "run " << n * 100 + static_cast<int>(g) * 10 + i << " n" << n << " " << kind[g][0]
             << ":1 cpus " << Draw(1, 2) << " mem " << Draw(1, 4) * 1000 << " ends "
             << Minutes(Draw(1, 9)) << "\n";
      }
    }
  }
  return text.str();
}

std::string DrawRequest(bool alike) {
  std::ostringstream text;
  const int nodes = Draw(0, 3) == 0 ? 2 : 1;
  const int kind = alike ? 0 : Draw(0, 3);
  const int cpus = Draw(1, 4);
  if (kind < 3) text << (kind == 0 ? "a:" : kind == 1 ? "b:" : "gpu:") << Draw(1, 4) << " ";
  text << "nodes " << nodes << " tasks " << nodes << " cpus-per-task " << cpus << " mem "
       << Draw(1, 16) * 1000;
  if (Draw(0, 5) == 0) text << " exclusive";
  return text.str();
}

std::string DrawLimit() { return " limit " + Minutes(Draw(1, 9)); }

std::string DrawPending(int count, bool alike) {
  std::ostringstream text;
  std::string request;  // people submit the same again, with another limit
  for (int i = 0; i < count; ++i) {
    if (i == 0 || Draw(0, 1) == 0) request = DrawRequest(alike);
    text << "pend " << 1000 + i << " " << request << DrawLimit() << " priority " << Draw(1, 9);
    if (Draw(0, 4) == 0) text << " count " << Draw(2, 4) << " throttle " << Draw(0, 2);
    text << "\n";
  }
  return text.str();
}

Snapshot DrawSnapshot() {
  const int nodes = Draw(1, 5);
  return SnapshotOf(DrawNodes(nodes, false) + DrawPending(Draw(0, 10), false));
}

using Starts = std::vector<std::pair<int64_t, int64_t>>;  // job, start

// The queue of `snapshot` in one sample; at the limits when there is no history.
struct World {
  explicit World(const Snapshot& of) : queue(PrepareQueue(of)), sample(SimulateSample(*queue, 0)) {}
  World(const Snapshot& of, ForecastHistory& past, int number)
      : queue(PrepareQueue(std::make_shared<const Snapshot>(of), past, {4, 9, 30 * 86'400})),
        sample(SimulateSample(*queue, number)) {}
  int64_t IdOf(const SimulatedJob& job) const { return queue->pending()[job.pending].id; }

  std::shared_ptr<const QueueModel> queue;
  SimulatedSample sample;
};

Starts StartsOf(const World& world) {
  Starts starts;
  for (const SimulatedJob& job : world.sample.jobs) starts.emplace_back(world.IdOf(job), job.start);
  return starts;
}

// What a group has left at `time` after those that started later than now, by simply adding up.
Resources LeftAt(const World& world, int32_t group, int64_t time) {
  Resources left = world.queue->groups().groups()[static_cast<size_t>(group)].capacity;
  for (const RunningJob& job : world.queue->running()) {
    if (time >= job.until) continue;
    for (const HeldNodes& held : job.held) {
      if (held.group == group) left -= held.amount();
    }
  }
  for (const SimulatedJob& job : world.sample.jobs) {
    if (time < job.start || time >= job.end) continue;
    for (const HeldNodes& held : world.sample.Held(job.held)) {
      if (held.group == group) left -= held.amount();
    }
  }
  return left;
}

bool AllAtLeastZero(const Resources& left) {
  return left.cpus >= 0 && left.memory_mib >= 0 && left.shards >= 0 &&
         std::all_of(left.gpus.begin(), left.gpus.end(), [](int32_t n) { return n >= 0; });
}

// Whether nobody holds more than there is whenever somebody starts. At the limits running jobs
// stay until `until`; in samples they may leave earlier, so that only queued jobs are added up.
void NothingGivenTwice(const World& world) {
  for (const SimulatedJob& job : world.sample.jobs) {
    for (const HeldNodes& held : world.sample.Held(job.held)) {
      for (const SimulatedJob& other : world.sample.jobs) {
        RC_ASSERT(AllAtLeastZero(LeftAt(world, held.group, std::max(job.start, other.start))));
      }
    }
  }
}

RC_GTEST_PROP(QueueTrajectories, GivesNothingTwiceAtAnyTime, ()) {
  NothingGivenTwice(World(DrawSnapshot()));
}

// A history in which users run everything between seconds and the limit.
ForecastHistory DrawPast() {
  ForecastHistory past;
  for (int i = 0; i < 20; ++i) {
    JobRecord job;
    job.id = 50'000 + i;
    job.user = "ann";
    job.partition = "main";
    job.limit_seconds = kStep * Draw(1, 9);
    job.start = 0;
    job.end = Draw(1, static_cast<int>(job.limit_seconds.value()));
    past.run_times.Ended(job);
  }
  return past;
}

RC_GTEST_PROP(QueueTrajectories, GivesNothingTwiceWhenJobsEndEarly, ()) {
  // Nothing runs at first: all that holds nodes is in `played`, with its real end.
  Snapshot snapshot = DrawSnapshot();
  std::erase_if(snapshot.jobs, [](const Job& job) { return HoldsNodes(job); });
  ForecastHistory past = DrawPast();
  for (int sample = 0; sample < 4; ++sample) NothingGivenTwice(World(snapshot, past, sample));
}

// The same jobs on the nodes of two partitions, of which one may take from the other.
Snapshot DrawTiers() {
  static const std::vector<std::string> kModes = {"REQUEUE", "CANCEL", "SUSPEND,GANG"};
  const std::string mode = kModes[static_cast<size_t>(Draw(0, 2))];
  std::istringstream lines(DrawPending(Draw(1, 10), false));
  std::string text = "config preempt partition_prio\nconfig preempt-mode " + mode + "\n" +
                     DrawNodes(Draw(1, 4), false) +
                     "partition main ALL tier 1 default\npartition high ALL tier 2\n";
  for (std::string line; std::getline(lines, line);) {
    text += line + (Draw(0, 1) == 0 ? " in high begin " + Minutes(Draw(0, 5)) : "") + "\n";
  }
  Snapshot snapshot = SnapshotOf(text);
  std::erase_if(snapshot.jobs, [](const Job& job) { return HoldsNodes(job); });
  return snapshot;
}

RC_GTEST_PROP(QueueTrajectories, GivesNothingTwiceWhenNodesAreTaken, ()) {
  const Snapshot snapshot = DrawTiers();
  NothingGivenTwice(World(snapshot));
  ForecastHistory past = DrawPast();
  for (int sample = 0; sample < 4; ++sample) NothingGivenTwice(World(snapshot, past, sample));
}

// Submissions of the last two hours, to be drawn from.
void DrawArrivals(ForecastHistory& past) {
  for (int i = 0; i < 8; ++i) {
    std::ostringstream text;
    text << "node n1 a:4 b:4\npend " << 900 + i << " " << DrawRequest(false) << DrawLimit();
    past.arrivals.Arrived(SnapshotOf(text.str()).jobs.front(), kSnapshotTime - 7200 + i * 900);
  }
}

RC_GTEST_PROP(QueueTrajectories, WhoArrivesLaterTakesNothingTwice, ()) {
  Snapshot snapshot = DrawSnapshot();
  std::erase_if(snapshot.jobs, [](const Job& job) { return HoldsNodes(job); });
  ForecastHistory past = DrawPast();
  DrawArrivals(past);
  for (int sample = 0; sample < 4; ++sample) NothingGivenTwice(World(snapshot, past, sample));
}

RC_GTEST_PROP(QueueTrajectories, WhoArrivesLaterChangesNothingNow, ()) {
  const Snapshot snapshot = DrawSnapshot();
  ForecastHistory calm;
  ForecastHistory busy;
  DrawArrivals(busy);
  const World alone(snapshot, calm, 1);
  const World crowded(snapshot, busy, 1);
  if (alone.sample.jobs.empty()) return;
  RC_ASSERT(!crowded.sample.jobs.empty());
  for (const SimulatedJob& job : alone.sample.jobs) {
    if (job.start > 0) continue;
    const bool too =
        std::any_of(crowded.sample.jobs.begin(), crowded.sample.jobs.end(),
                    [&](auto& other) { return other.pending == job.pending && other.start == 0; });
    RC_ASSERT(too);
  }
}

RC_GTEST_PROP(QueueTrajectories, TheSameSeedGivesTheSameSamples, ()) {
  const Snapshot snapshot = DrawSnapshot();
  ForecastHistory past = DrawPast();
  DrawArrivals(past);
  RC_ASSERT(StartsOf(World(snapshot, past, 2)) == StartsOf(World(snapshot, past, 2)));
}

RC_GTEST_PROP(QueueTrajectories, EveryJobHoldsWhatItAskedFor, ()) {
  const Snapshot snapshot = DrawSnapshot();
  const World world(snapshot);
  std::map<int64_t, const Job*> jobs;
  for (const Job& job : snapshot.jobs) jobs[job.id] = &job;
  for (const SimulatedJob& played : world.sample.jobs) {
    const JobRequest& request = jobs.at(world.IdOf(played))->request;
    RC_ASSERT(static_cast<int64_t>(played.held.count) == request.nodes_min);
    RC_ASSERT(played.end - played.start == request.time_limit_seconds.value());
    for (const HeldNodes& nodes : world.sample.Held(played.held)) {
      const Resources held = nodes.amount();
      RC_ASSERT(held.cpus >= request.cpus_per_task);
      RC_ASSERT(held.memory_mib >= request.memory_per_node_mib.value());
      int64_t gpus = 0;
      for (const GpuCount& gpu : request.gpus_per_node) gpus += gpu.count;
      RC_ASSERT(request.exclusive || held.any_gpus == gpus);
    }
  }
}

// ---- a slow obvious model ----------------------------------------------------------------------

// EASY's stricter sibling in slow motion, on nodes of one type and jobs that take whole nodes: at
// every step of time, everybody in order gets the first interval at the limits that still has
// enough nodes; whose interval starts now starts.
Starts SlowStarts(int nodes, std::vector<std::pair<int64_t, int>> holding,
                  const std::vector<std::pair<int, int64_t>>& jobs) {
  Starts starts;
  std::vector<bool> done(jobs.size(), false);
  for (int64_t now = 0; starts.size() < jobs.size(); now += kStep) {
    std::vector<std::tuple<int64_t, int64_t, int>> plan;  // from, to, nodes
    for (const auto& [until, count] : holding) {
      if (until > now) plan.emplace_back(now, until, count);
    }
    for (size_t j = 0; j < jobs.size(); ++j) {
      if (done[j]) continue;
      const auto& [wanted, limit] = jobs[j];
      for (int64_t start = now;; start += kStep) {
        int most = 0;
        for (int64_t t = start; t < start + limit; t += kStep) {
          int used = 0;
          for (const auto& [from, to, count] : plan) used += from <= t && t < to ? count : 0;
          most = std::max(most, used);
        }
        if (most + wanted > nodes) continue;
        plan.emplace_back(start, start + limit, wanted);
        if (start == now) {
          done[j] = true;
          holding.emplace_back(now + limit, wanted);
          starts.emplace_back(static_cast<int64_t>(j) + 1000, now);
        }
        break;
      }
    }
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

RC_GTEST_PROP(QueueTrajectories, AgreesWithTheSlowModelOnWholeNodes, ()) {
  // So many equal nodes are one group: which of them a job gets makes no difference.
  const int nodes = static_cast<int>(kPoolFrom);
  std::vector<std::pair<int64_t, int>> busy;
  std::vector<std::pair<int, int64_t>> jobs;
  std::ostringstream text;
  text << "node n[1-" << nodes << "] a:4\n";
  for (int first = 1; first < nodes; first += 16) {
    if (Draw(0, 1) == 0) continue;
    const int ends = Draw(1, 9);
    busy.emplace_back(kStep * ends, 16);
    text << "run " << first << " n[" << first << "-" << first + 15 << "] a:4 ends " << Minutes(ends)
         << "\n";
  }
  for (int j = Draw(0, 8); j > 0; --j) {
    const int wanted = Draw(1, nodes);
    const int limit = Draw(1, 9);
    text << "pend " << 1000 + jobs.size() << " a:4 nodes " << wanted << " limit " << Minutes(limit)
         << "\n";
    jobs.emplace_back(wanted, kStep * limit);
  }
  Starts starts = StartsOf(World(SnapshotOf(text.str())));
  std::sort(starts.begin(), starts.end());
  RC_ASSERT(starts == SlowStarts(nodes, busy, jobs));
}

// ---- order -------------------------------------------------------------------------------------

// One GPU type, whole nodes, nobody overtakes: the world in which more is never worse.
std::string StrictFifo(int nodes, const std::string& queue) {
  return "config scheduler builtin\nnode n[1-" + std::to_string(nodes) + "] a:4\n" + queue;
}

std::string DrawWholeNodeJobs(int most_nodes) {
  std::ostringstream text;
  for (int j = 0; j < Draw(0, 8); ++j) {
    text << "pend " << 1000 + j << " a:4 nodes " << Draw(1, most_nodes) << DrawLimit()
         << " priority " << Draw(10, 20) << "\n";
  }
  return text.str();
}

RC_GTEST_PROP(QueueTrajectories, MoreNodesNeverMeanALaterStartInStrictFifo, ()) {
  const std::string jobs = DrawWholeNodeJobs(2);
  const JobRequest request = RequestOf("a:4 nodes 2" + DrawLimit());
  ForecastHistory past = DrawPast();
  const auto starts = [&](int nodes) {
    const auto snapshot = std::make_shared<const Snapshot>(SnapshotOf(StrictFifo(nodes, jobs)));
    const auto start =
        SimulateStart(*PrepareQueue(snapshot, past, {4, 3, 30 * 86'400}), request, kAnn);
    return start->samples.wait_seconds;
  };
  const auto few = starts(2);
  const auto more = starts(3);
  for (size_t i = 0; i < few.size(); ++i) RC_ASSERT(more[i] <= few[i]);
}

RC_GTEST_PROP(QueueTrajectories, AHigherPriorityNeverMeansALaterStartInStrictFifo, ()) {
  const Snapshot snapshot = SnapshotOf(StrictFifo(3, DrawWholeNodeJobs(3)));
  ForecastHistory past = DrawPast();
  const auto queue =
      PrepareQueue(std::make_shared<const Snapshot>(snapshot), past, {4, 3, 30 * 86'400});
  PendingJob job;
  job.options.push_back({0,
                         std::make_shared<const GroupRequirements>(
                             GroupRequirements{{{0, 1, queue->groups().groups()[0].each},
                                                {1, 1, queue->groups().groups()[1].each},
                                                {2, 1, queue->groups().groups()[2].each}},
                                               2,
                                               -1}),
                         kStep * 3, 0, kNever});
  for (int sample = 0; sample < 4; ++sample) {
    int64_t before = kNever;
    for (const int64_t priority : {5, 12, 15, 18, 30}) {
      job.rank = MakeRank(snapshot, {0}, false, priority, Rank{}.job_id);
      const int64_t start = SimulateJob(*queue, job, sample).start;
      // Samples that share their memory are those that are played one by one.
      RC_ASSERT(SimulateSamples(*queue, job, 4)[static_cast<size_t>(sample)].start == start);
      RC_ASSERT(start <= before);
      before = start;
    }
  }
}

RC_GTEST_PROP(QueueTrajectories, BackfillNeverDelaysTheFirstJobThatWaits, ()) {
  Snapshot snapshot = DrawSnapshot();
  const World all(snapshot);
  if (all.queue->pending().empty()) return;
  const int64_t first = all.queue->pending().front().id;
  std::erase_if(snapshot.jobs, [&](const Job& job) { return !HoldsNodes(job) && job.id != first; });
  const World alone(snapshot);
  RC_ASSERT(alone.sample.jobs.empty() ==
            (all.sample.jobs.empty() || all.IdOf(all.sample.jobs[0]) != first));
  if (!alone.sample.jobs.empty()) RC_ASSERT(all.sample.jobs[0].start == alone.sample.jobs[0].start);
}

RC_GTEST_PROP(QueueTrajectories, PermutingEqualNodesChangesNoStart, ()) {
  const int nodes = Draw(2, 5);
  Snapshot snapshot = SnapshotOf(DrawNodes(nodes, true) + DrawPending(Draw(1, 8), true));
  const Starts before = StartsOf(World(snapshot));
  std::map<std::string, std::string> renamed;
  std::vector<int> order(static_cast<size_t>(nodes));
  for (int n = 0; n < nodes; ++n) order[static_cast<size_t>(n)] = n + 1;
  for (size_t n = order.size(); n > 1; --n) {
    std::swap(order[n - 1], order[static_cast<size_t>(Draw(0, static_cast<int>(n) - 1))]);
  }
  for (size_t n = 0; n < order.size(); ++n) {
    renamed["n" + std::to_string(n + 1)] = "n" + std::to_string(order[n]);
  }
  for (Node& node : snapshot.nodes) node.name = renamed.at(node.name);
  for (Job& job : snapshot.jobs) {
    for (Allocation& held : job.allocations) held.node = renamed.at(held.node);
  }
  std::sort(snapshot.nodes.begin(), snapshot.nodes.end(),
            [](const Node& a, const Node& b) { return a.name < b.name; });
  RC_ASSERT(StartsOf(World(snapshot)) == before);
}

RC_GTEST_PROP(StartOf, SaysWhatThePlayGivesOnceTheJobIsSubmitted, ()) {
  Snapshot snapshot = DrawSnapshot();
  const JobRequest request = RequestOf(DrawRequest(false) + DrawLimit());
  const auto start = StartOf(*PrepareQueue(snapshot), request, kAnn);
  if (!start) return;
  Job job;
  job.id = 9999;
  job.user = kAnn.user;
  job.account = kAnn.account;
  job.qos = kAnn.qos;
  job.priority = start->priority;
  job.request = request;
  job.request.partitions = {start->partition};
  snapshot.jobs.push_back(job);
  for (const auto& [id, when] : StartsOf(World(snapshot))) {
    if (id == job.id) RC_ASSERT(when == start->wait_seconds.front());
  }
}

// Whether both could use one group of nodes.
bool Compete(const PendingJob& a, const PendingJob& b) {
  for (const PartitionOption& one : a.options) {
    for (const PartitionOption& other : b.options) {
      for (const GroupDemand& here : one.requirements->demands) {
        for (const GroupDemand& there : other.requirements->demands) {
          if (here.group == there.group) return true;
        }
      }
    }
  }
  return false;
}

RC_GTEST_PROP(CompetingJobs, AreThoseWhoCouldUseTheSameNodes, ()) {
  const Snapshot snapshot = DrawSnapshot();
  QueueModel queue(std::make_shared<const Snapshot>(snapshot), nullptr, {});
  queue.Settle(nullptr);
  if (queue.pending().empty()) return;
  PendingJob job =
      queue.pending()[static_cast<size_t>(Draw(0, static_cast<int>(queue.pending().size()) - 1))];
  if (Draw(0, 1) == 0) job.replaces_job = job.id;
  CompetingJobs expected;
  for (const PendingJob& each : queue.pending()) {
    if (!Compete(job, each) || (job.replaces_job != 0 && each.id == job.replaces_job)) continue;
    ++expected.competing;
    if (each.rank < job.rank) ++expected.before;
    if (each.held) ++expected.held;
  }
  const CompetingJobs counted = queue.rivals().Of(job);
  RC_ASSERT(counted.competing == expected.competing);
  RC_ASSERT(counted.before == expected.before);
  RC_ASSERT(counted.held == expected.held);
}

}  // namespace
}  // namespace gpuadvise
