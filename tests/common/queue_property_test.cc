// The plan against what must hold for every cluster, and against a slow obvious model.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "common/policy.h"
#include "common/queue_model.h"
#include "common/start_of.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

const Submitter kAnn{1001, "ann", "lab", "normal"};
constexpr int64_t kStep = 600;  // every time in these worlds is a multiple

int Draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

std::string Minutes(int tens) { return std::to_string(10 * tens) + "m"; }

/// A cluster's nodes and what runs on them: two GPU types, some nodes with both. `alike`: all nodes
/// are equal. Running jobs take GPUs one by one and fit together.
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

Starts StartsOf(const QueueModel& queue) {
  Starts starts;
  for (const PlannedJob& job : queue.plan()) starts.emplace_back(job.job_id, job.start);
  return starts;
}

/// What a node has left at `time` by simply adding up everybody who is there.
Resources LeftAt(const QueueModel& queue, size_t jobs, int32_t node, int64_t time) {
  Resources left = queue.pool().running()[static_cast<size_t>(node)].FreeThroughout(time, time + 1);
  for (size_t i = 0; i < jobs; ++i) {
    const PlannedJob& job = queue.plan()[i];
    if (time < job.start || time >= job.end) continue;
    for (const Share& share : queue.SharesOf(job)) {
      if (share.node == node) left -= share.held;
    }
  }
  return left;
}

bool AllAtLeastZero(const Resources& left) {
  return left.cpus >= 0 && left.memory_mib >= 0 && left.shards >= 0 &&
         std::all_of(left.gpus.begin(), left.gpus.end(), [](int32_t n) { return n >= 0; });
}

/// The slow obvious model: could `request` hold the node for its whole time from `start` on?
bool NodeCouldServe(const QueueModel& queue, size_t jobs, const JobRequest& request, int32_t index,
                    int64_t start) {
  const PoolNode& node = queue.pool().nodes()[static_cast<size_t>(index)];
  Resources least = node.capacity;
  const int64_t duration = request.time_limit_seconds.value();
  for (int64_t t = start; t < start + duration; t += kStep) {
    least = Least(least, LeftAt(queue, jobs, index, t));
  }
  if (request.exclusive && least != node.capacity) return false;
  if (least.cpus < request.cpus_per_task) return false;
  if (least.memory_mib < request.memory_per_node_mib.value()) return false;
  for (const GpuCount& gpu : request.gpus_per_node) {
    const int32_t type = queue.pool().FindGpuType(gpu.type);
    const int slot = node.SlotOf(type);
    const int64_t has = gpu.type.empty() ? least.TotalGpus()
                        : slot < 0       ? 0
                                         : least.gpus[static_cast<size_t>(slot)];
    if (has < gpu.count) return false;
  }
  return true;
}

int64_t SlowStart(const QueueModel& queue, size_t jobs, const JobRequest& request, int64_t from,
                  int64_t give_up) {
  for (int64_t start = from; start <= give_up; start += kStep) {
    int64_t ready = 0;
    for (size_t n = 0; n < queue.pool().nodes().size(); ++n) {
      ready += NodeCouldServe(queue, jobs, request, static_cast<int32_t>(n), start);
    }
    if (ready >= request.nodes_min) return start;
  }
  return kNever;
}

RC_GTEST_PROP(QueuePlan, GivesNothingTwiceAtAnyTime, ()) {
  const QueueModel queue(DrawSnapshot());
  for (const PlannedJob& job : queue.plan()) {
    for (const Share& share : queue.SharesOf(job)) {
      // Whatever overlaps a job does so at somebody's start.
      for (const PlannedJob& other : queue.plan()) {
        const int64_t time = std::max(job.start, other.start);
        RC_ASSERT(AllAtLeastZero(LeftAt(queue, queue.plan().size(), share.node, time)));
      }
    }
  }
}

RC_GTEST_PROP(QueuePlan, EveryJobHoldsWhatItAskedFor, ()) {
  const Snapshot snapshot = DrawSnapshot();
  const QueueModel queue(snapshot);
  std::map<int64_t, const Job*> jobs;
  for (const Job& job : snapshot.jobs) jobs[job.id] = &job;
  for (const PlannedJob& planned : queue.plan()) {
    const JobRequest& request = jobs.at(planned.job_id)->request;
    RC_ASSERT(static_cast<int64_t>(planned.share_count) == request.nodes_min);
    RC_ASSERT(planned.end - planned.start == request.time_limit_seconds.value());
    for (const Share& share : queue.SharesOf(planned)) {
      RC_ASSERT(share.held.cpus >= request.cpus_per_task);
      RC_ASSERT(share.held.memory_mib >= request.memory_per_node_mib.value());
      int64_t gpus = 0;
      for (const GpuCount& gpu : request.gpus_per_node) gpus += gpu.count;
      RC_ASSERT(request.exclusive || share.held.TotalGpus() == gpus);
    }
  }
}

RC_GTEST_PROP(QueuePlan, StartsEachJobAsEarlyAsTheSlowModel, ()) {
  const Snapshot snapshot = DrawSnapshot();
  const QueueModel queue(snapshot);
  std::map<int64_t, const Job*> jobs;
  for (const Job& job : snapshot.jobs) jobs[job.id] = &job;
  for (size_t i = 0; i < queue.plan().size(); ++i) {
    const Job& job = *jobs.at(queue.plan()[i].job_id);
    if (job.array_throttle > 0) continue;
    RC_ASSERT(SlowStart(queue, i, job.request, 0, queue.plan()[i].start) == queue.plan()[i].start);
  }
}

RC_GTEST_PROP(QueuePlan, LeavesOutOnlyWhatNeverFits, ()) {
  const Snapshot snapshot = DrawSnapshot();
  const QueueModel queue(snapshot);
  std::map<int64_t, int64_t> placed;
  for (const PlannedJob& job : queue.plan()) ++placed[job.job_id];
  for (const Job& job : snapshot.jobs) {
    if (HoldsNodes(job)) continue;
    const bool fits_when_empty =
        SlowStart(queue, 0, job.request, kStep * 1000, kStep * 1000) < kNever;
    RC_ASSERT(placed[job.id] == (fits_when_empty ? job.array_task_count : 0));
  }
}

RC_GTEST_PROP(QueuePlan, KeepsAtMostTheThrottledTasksRunning, ()) {
  const Snapshot snapshot = DrawSnapshot();
  const QueueModel queue(snapshot);
  for (const Job& job : snapshot.jobs) {
    if (job.array_throttle == 0) continue;
    for (const PlannedJob& at : queue.plan()) {
      int64_t together = 0;
      for (const PlannedJob& other : queue.plan()) {
        together += at.job_id == job.id && other.job_id == job.id && other.start <= at.start &&
                    at.start < other.end;
      }
      RC_ASSERT(together <= job.array_throttle);
    }
  }
}

RC_GTEST_PROP(QueuePlan, LaterJobsNeverDelayEarlierOnes, ()) {
  Snapshot snapshot = DrawSnapshot();
  const Starts all = StartsOf(QueueModel(snapshot));
  if (all.empty()) return;
  const int64_t last = all.back().first;
  std::erase_if(snapshot.jobs, [&](const Job& job) { return job.id == last; });
  const Starts fewer = StartsOf(QueueModel(snapshot));
  RC_ASSERT(fewer.size() < all.size());
  RC_ASSERT(std::equal(fewer.begin(), fewer.end(), all.begin()));
}

RC_GTEST_PROP(QueuePlan, IsTheSameForTheSameSnapshot, ()) {
  const Snapshot snapshot = DrawSnapshot();
  RC_ASSERT(StartsOf(QueueModel(snapshot)) == StartsOf(QueueModel(snapshot)));
}

RC_GTEST_PROP(QueuePlan, PermutingEqualNodesChangesNoStart, ()) {
  const int nodes = Draw(2, 5);
  Snapshot snapshot = SnapshotOf(DrawNodes(nodes, true) + DrawPending(Draw(1, 8), true));
  const Starts before = StartsOf(QueueModel(snapshot));
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
  RC_ASSERT(StartsOf(QueueModel(snapshot)) == before);
}

RC_GTEST_PROP(QueuePlan, AnEarlierPlaceNeverStartsLater, ()) {
  const Snapshot snapshot = DrawSnapshot();
  const QueueModel queue(snapshot);
  const Partition& partition = snapshot.partitions.front();
  const auto shape = ShapeOf(queue.pool(), queue.policy(), partition, queue.Members(0),
                             RequestOf(DrawRequest(false) + DrawLimit()));
  if (!shape) return;
  int64_t before = 0;
  for (size_t position = 0; position <= queue.plan().size(); ++position) {
    const int64_t start = EarliestStart(queue.pool(), *queue.FreeAt(position), *shape, 0).start;
    RC_ASSERT(start >= before);
    before = start;
  }
}

RC_GTEST_PROP(StartOf, SaysWhatThePlanGivesOnceTheJobIsSubmitted, ()) {
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
  const Starts starts = StartsOf(QueueModel(snapshot));
  RC_ASSERT(starts.back() == std::pair(job.id, start->wait_seconds.front()));
}

RC_GTEST_PROP(StartOf, NeverAsksForMoreThanThereIs, ()) {
  const Snapshot snapshot = DrawSnapshot();
  const auto queue = PrepareQueue(snapshot);
  const JobRequest request = RequestOf(DrawRequest(false) + DrawLimit());
  const auto start = StartOf(*queue, request, kAnn);
  const bool possible = SlowStart(*queue, 0, request, kStep * 1000, kStep * 1000) < kNever;
  RC_ASSERT(start.has_value() == possible);
  RC_ASSERT(start.has_value() || !start.error().message.empty());
}

}  // namespace
}  // namespace gpuadvise
