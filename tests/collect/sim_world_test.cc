#include "daemon/collect/sim_world.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "tests/collect/sim_invariants.h"

namespace gpuadvise {
namespace {

constexpr UnixSeconds kMonday = 1789948800;  // 2026-09-21 00:00 UTC
constexpr UnixSeconds kDay = 86400;

Snapshot SeedAfter(uint64_t seed, UnixSeconds seconds) {
  SimWorld world(seed, kMonday);
  world.AdvanceTo(kMonday + seconds);
  return world.Look();
}

const std::string& TypeOf(const Job& job) { return job.request.gpus_per_node.front().type; }

int64_t FreeGpus(const Snapshot& snapshot, const std::string& type) {
  int64_t free = 0;
  for (const Node& node : snapshot.nodes) {
    if (node.gpus.front().type != type) continue;
    free += node.gpus.front().count;
    for (const GpuCount& used : node.gpus_allocated) free -= used.count;
  }
  return free;
}

int64_t Pending(const Snapshot& snapshot, const std::string& type) {
  int64_t pending = 0;
  for (const Job& job : snapshot.jobs) {
    pending += job.state == JobState::kPending && TypeOf(job) == type ? 1 : 0;
  }
  return pending;
}

/// Hours that the GPUs of `type` are promised to others at limits: running and pending.
double PromisedHours(const Snapshot& snapshot, const std::string& type) {
  double gpu_seconds = 0;
  double gpus = 0;
  for (const Node& node : snapshot.nodes) {
    if (node.gpus.front().type == type) gpus += static_cast<double>(node.gpus.front().count);
  }
  for (const Job& job : snapshot.jobs) {
    if (TypeOf(job) != type) continue;
    const int64_t left = job.state == JobState::kPending ? job.request.time_limit_seconds.value()
                                                         : *job.end_time - snapshot.taken_at;
    const int64_t count = job.request.nodes_min * job.request.gpus_per_node.front().count;
    gpu_seconds += static_cast<double>(count * left);
  }
  return gpu_seconds / gpus / 3600;
}

/// In how many of 240 snapshots (ten seeds, each hour of the second day) `holds`.
template <typename Predicate>
int CountSnapshots(Predicate holds) {
  int count = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SimWorld world(seed, kMonday);
    for (int hour = 24; hour < 48; ++hour) {
      world.AdvanceTo(kMonday + hour * 3600);
      count += holds(world.Look()) ? 1 : 0;
    }
  }
  return count;
}

TEST(SimWorld, StartsIdle) {
  const Snapshot snapshot = SimWorld(1, kMonday).Look();
  EXPECT_EQ(snapshot.taken_at, kMonday);
  EXPECT_TRUE(snapshot.jobs.empty());
  EXPECT_EQ(Inconsistency(snapshot), "");
}

RC_GTEST_PROP(SimWorld, NothingIsEverGivenTwice, ()) {
  const auto seed = *rc::gen::inRange<uint64_t>(0, 1'000'000);
  const auto seconds = *rc::gen::inRange<UnixSeconds>(0, 5 * kDay);
  RC_ASSERT(Inconsistency(SeedAfter(seed, seconds)) == "");
}

RC_GTEST_PROP(SimWorld, ManySmallStepsEqualOneLargeStep, ()) {
  const auto seed = *rc::gen::inRange<uint64_t>(0, 1'000'000);
  const auto steps =
      *rc::gen::container<std::vector<UnixSeconds>>(rc::gen::inRange<UnixSeconds>(0, 7200));
  SimWorld world(seed, kMonday);
  UnixSeconds sum = 0;
  for (const UnixSeconds step : steps) {
    sum += step;
    world.AdvanceTo(kMonday + sum);
  }
  RC_ASSERT(world.Look() == SeedAfter(seed, sum));
}

RC_GTEST_PROP(SimWorld, RunningJobsStayWhereTheyAreUntilTheyEnd, ()) {
  const auto seed = *rc::gen::inRange<uint64_t>(0, 1'000'000);
  SimWorld world(seed, kMonday);
  world.AdvanceTo(kMonday + kDay);
  const Snapshot before = world.Look();
  world.AdvanceTo(kMonday + kDay + *rc::gen::inRange<UnixSeconds>(1, 7200));
  std::map<int64_t, Job> after;
  for (const Job& job : world.Look().jobs) after[job.id] = job;
  for (const Job& job : before.jobs) {
    const auto found = after.find(job.id);
    if (job.state != JobState::kRunning || found == after.end()) continue;
    RC_ASSERT(found->second == job);
  }
}

RC_GTEST_PROP(SimWorld, ThePromiseToTheHeadOfAQueueIsKept, ()) {
  const auto seed = *rc::gen::inRange<uint64_t>(0, 1'000'000);
  SimWorld world(seed, kMonday);
  world.AdvanceTo(kMonday + kDay + *rc::gen::inRange<UnixSeconds>(0, kDay));
  for (const Job& job : world.Look().jobs) {
    if (job.state != JobState::kPending || !job.start_time) continue;
    SimWorld future = world;
    future.AdvanceTo(*job.start_time);
    for (const Job& later : future.Look().jobs) {
      RC_ASSERT(later.id != job.id || later.state == JobState::kRunning);
    }
  }
}

TEST(SimWorld, AnEarlierTimeChangesNothing) {
  SimWorld world(7, kMonday);
  world.AdvanceTo(kMonday + kDay);
  const Snapshot before = world.Look();
  world.AdvanceTo(kMonday + 10);
  EXPECT_EQ(world.Look(), before);
}

TEST(SimWorld, SeedsGiveDifferentWorlds) { EXPECT_NE(SeedAfter(1, kDay), SeedAfter(2, kDay)); }

TEST(SimWorld, EveryQueueTellsWhatItsHeadWaitsFor) {
  SimWorld world(3, kMonday);
  world.AdvanceTo(kMonday + kDay + 12 * 3600);
  std::set<std::string> seen;
  int64_t heads = 0;
  for (const Job& job : world.Look().jobs) {
    if (job.state != JobState::kPending) continue;
    const bool head = seen.insert(TypeOf(job)).second;
    EXPECT_EQ(job.reason, head ? "Resources" : "Priority") << job.id;
    EXPECT_EQ(job.start_time.has_value(), head) << job.id;
    heads += head ? 1 : 0;
  }
  EXPECT_GT(heads, 0);
}

TEST(SimWorld, EarlierJobsHaveHigherPriority) {
  const Snapshot snapshot = SeedAfter(1, kDay);
  for (size_t i = 1; i < snapshot.jobs.size(); ++i) {
    EXPECT_LT(snapshot.jobs[i].priority, snapshot.jobs[i - 1].priority);
  }
}

TEST(SimWorld, The4090IsContended) {
  const auto full = [](const Snapshot& s) { return FreeGpus(s, "gpu4090") < 4; };
  EXPECT_GE(CountSnapshots(full), 228);
  const auto queued = [](const Snapshot& s) { return Pending(s, "gpu4090") > 0; };
  EXPECT_GE(CountSnapshots(queued), 180);
}

TEST(SimWorld, TheL40SHasTheLongestQueue) {
  const auto queued = [](const Snapshot& s) { return Pending(s, "gpul40s") > 0; };
  EXPECT_GE(CountSnapshots(queued), 200);
}

TEST(SimWorld, TheL40SIsPromisedToOthersForHoursLongerThanThe4090) {
  const auto longer = [](const Snapshot& s) {
    return PromisedHours(s, "gpul40s") > PromisedHours(s, "gpu4090") + 4;
  };
  EXPECT_GE(CountSnapshots(longer), 228);
}

TEST(SimWorld, The2080TiIsPlenty) {
  const auto plenty = [](const Snapshot& s) { return FreeGpus(s, "gpu2080") >= 16; };
  EXPECT_GE(CountSnapshots(plenty), 216);
}

TEST(SimWorld, The4070IsMostlyFree) {
  const auto free = [](const Snapshot& s) { return FreeGpus(s, "gpu4070") == 4; };
  EXPECT_GE(CountSnapshots(free), 144);
}

TEST(SimWorld, SomeNodesHaveFreeGpusButNoFreeCpus) {
  const auto starved = [](const Snapshot& s) {
    for (const Node& node : s.nodes) {
      const int64_t used = node.gpus_allocated.empty() ? 0 : node.gpus_allocated.front().count;
      if (node.cpus_allocated == node.cpus && used < node.gpus.front().count) return true;
    }
    return false;
  };
  EXPECT_GT(CountSnapshots(starved), 0);
}

}  // namespace
}  // namespace gpuadvise
