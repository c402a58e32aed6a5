// Jobs of people on the simulated cluster: files in, snapshots out.
#include "daemon/collect/sim_jobs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/collect/sim.h"
#include "tests/collect/sim_invariants.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::collect {
namespace {

constexpr UnixSeconds kNoon = 1789948800 + 12 * 3600;

std::string JobText(int64_t id, UnixSeconds submit, const std::string& type = "gpu2080",
                    int64_t gpus = 1, int64_t nodes = 1) {
  return fmt::format(
      R"({{"id": {}, "name": "toy", "user": "ann", "uid": 1000, "submit": {}, "partition":)"
      R"( "gpu_shared", "gpu_type": "{}", "gpus": {}, "nodes": {}, "cpus": 2, "memory_mib": 4000,)"
      R"( "limit_seconds": 600}})",
      id, submit, type, gpus, nodes);
}

// A simulation at noon whose clock the test sets, and the folder of its jobs.
class SimJobs : public testing::Test {
 protected:
  std::unique_ptr<Source> Make() {
    return MakeSimSource({.seed = 1, .speed = 1, .jobs_dir = folder_.Path("")},
                         [this] { return now_; })
        .value();
  }
  std::optional<Job> Find(int64_t id) {
    snapshot_ = source_->Step().value().snapshot;
    EXPECT_EQ(Inconsistency(snapshot_), "");
    const auto found = std::find_if(snapshot_.jobs.begin(), snapshot_.jobs.end(),
                                    [id](const Job& job) { return job.id == id; });
    return found == snapshot_.jobs.end() ? std::nullopt : std::optional(*found);
  }

  TemporaryFolder folder_;
  UnixSeconds now_ = kNoon;
  std::unique_ptr<Source> source_ = Make();
  Snapshot snapshot_;
};

TEST_F(SimJobs, TasksOfAnArrayAreOfOneArray) {
  const auto task = [](std::string text, const char* keys) {
    return text.insert(text.size() - 1, keys);
  };
  folder_.Write("100001.job", task(JobText(100001, kNoon), R"(, "task": 3, "tasks": 2)"));
  folder_.Write("100002.job",
                task(JobText(100002, kNoon), R"(, "array": 100001, "task": 4, "tasks": 2)"));
  now_ += 5;
  for (const int64_t id : {100001, 100002}) {
    const auto job = Find(id);
    ASSERT_TRUE(job) << id;
    EXPECT_EQ(job->array_job_id, 100001);
    EXPECT_EQ(job->array_tasks, id == 100001 ? "3" : "4");
  }
}

TEST_F(SimJobs, AJobStartsWhereGpusAreFreeAndHoldsThem) {
  ASSERT_FALSE(Find(100001));
  folder_.Write("100001.job", JobText(100001, kNoon + 3));
  now_ += 5;
  const auto job = Find(100001);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->state, JobState::kRunning);
  EXPECT_EQ(job->start_time, kNoon + 3);
  EXPECT_EQ(job->uid, 1000);
  ASSERT_EQ(job->allocations.size(), 1u);
  EXPECT_EQ(job->allocations.front().gpus, (GpuCounts{{"gpu2080", 1}}));
}

TEST_F(SimJobs, ItsEndFreesItsGpus) {
  folder_.Write("100001.job", JobText(100001, kNoon));
  ASSERT_TRUE(Find(100001));
  folder_.Write("100001.end", fmt::format("{} 0\n", kNoon + 10));
  now_ += 9;
  EXPECT_TRUE(Find(100001));
  now_ += 1;
  EXPECT_FALSE(Find(100001));
}

TEST_F(SimJobs, WithoutAnEndItEndsAtItsLimit) {
  folder_.Write("100001.job", JobText(100001, kNoon));
  now_ += 599;
  EXPECT_TRUE(Find(100001));
  now_ += 1;
  EXPECT_FALSE(Find(100001));
}

TEST_F(SimJobs, WhereNothingIsFreeItWaitsBehindTheOthers) {
  folder_.Write("100001.job", JobText(100001, kNoon - 1, "gpul40s", 6, 2));
  const auto job = Find(100001);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->state, JobState::kPending);
  EXPECT_TRUE(job->reason == "Priority" || job->reason == "Resources") << job->reason;
  for (const Job& other : snapshot_.jobs) {
    const bool first = other.submit_time <= job->submit_time;
    EXPECT_EQ(other.priority >= job->priority, first);
  }
  folder_.Write("100001.end", fmt::format("{}", kNoon));  // scancel
  EXPECT_FALSE(Find(100001));
}

TEST_F(SimJobs, ASourceMadeAgainPlaysThemAgain) {
  folder_.Write("100001.job", JobText(100001, kNoon + 3));
  folder_.Write("100002.job", JobText(100002, kNoon + 4));
  folder_.Write("100001.end", fmt::format("{}", kNoon + 20));
  for (now_ = kNoon; now_ < kNoon + 60; now_ += 5) Find(100002);
  const Snapshot lived = (Find(100002), snapshot_);
  source_ = Make();
  EXPECT_TRUE(Find(100002));
  EXPECT_EQ(snapshot_, lived);
}

TEST_F(SimJobs, WhatCanNeverRunOrIsNoJobIsIgnored) {
  folder_.Write("100001.job", JobText(100001, kNoon, "gpul40s", 7));
  folder_.Write("100002.job", JobText(100002, kNoon, "a100", 1));
  folder_.Write("100003.job", "{\"id\": 100003}");
  folder_.Write("100004.job", "no json");
  folder_.Write("100005.job", JobText(100005, kNoon, "gpu2080", -1));
  folder_.Write("100009.end", "17");
  for (int64_t id = 100001; id <= 100005; ++id) EXPECT_FALSE(Find(id)) << id;
}

TEST_F(SimJobs, ATextCutAnywhereIsNoJob) {
  const std::string text = JobText(100001, kNoon);
  EXPECT_TRUE(SimJobFrom(text));
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(SimJobFrom(text.substr(0, length))) << length;
  }
}

TEST(SimJobsSpeed, PeopleLiveInRealTime) {
  const auto source =
      MakeSimSource({.seed = 1, .speed = 60, .jobs_dir = "/nowhere"}, [] { return kNoon; });
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().message,
            "jobs of people run in real time: the speed must be 1, or jobs_dir empty");
}

}  // namespace
}  // namespace gpuadvise::collect
