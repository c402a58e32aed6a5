// What shorter limits would have been worth: groups, the limit that is enough, and the two plays.
#include "common/forecast/past_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/base/unix_time.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

using testing::HasSubstr;

constexpr int64_t kHour = kHourSeconds;
constexpr UnixSeconds kDay = kSnapshotTime - 10 * kDaySeconds;  // on which jobs ran

// A job that was eligible and started so many seconds into the day.
JobRecord Ran(int64_t id, const std::string& user, const std::string& name, int64_t eligible,
              int64_t start, int64_t run, int64_t limit, int64_t gpus = 4) {
  JobRecord job;
  job.id = id;
  job.user = user;
  job.account = "lab";
  job.qos = "normal";
  job.name = name;
  job.partition = "main";
  job.gpu = "a100";
  job.gpus = gpus;
  job.cpus = gpus;
  job.limit_seconds = limit;
  job.submit = job.eligible = kDay + eligible;
  job.start = kDay + start;
  job.end = kDay + start + run;
  return job;
}

std::vector<JobRecord> Times(int times, int64_t run, int64_t limit, const std::string& name) {
  std::vector<JobRecord> jobs;
  for (int i = 0; i < times; ++i) {
    jobs.push_back(Ran(i + 1, "ann", name + std::to_string(i), i * kHour, i * kHour, run, limit));
  }
  return jobs;
}

// ---- groups
// --------------------------------------------------------------------------------------

TEST(ReviewLimits, JobsOfOneNameButForItsNumberAreOneGroupWithTheLimitThatIsEnough) {
  const PastLimits review = ReviewLimits(Times(20, kHour, 24 * kHour, "train-"));
  EXPECT_EQ(review.jobs, 20);
  EXPECT_DOUBLE_EQ(review.used_seconds / review.asked_seconds, 1. / 24);
  EXPECT_DOUBLE_EQ(review.asked_gpu_seconds, 4 * review.asked_seconds);
  ASSERT_EQ(review.groups.size(), 1U);
  EXPECT_EQ(review.groups[0].name, "train");
  EXPECT_EQ(review.groups[0].usual_limit, 24 * kHour);
  EXPECT_EQ(review.groups[0].limit, kHour);
  EXPECT_EQ(review.groups[0].cut, 0);
}

TEST(ReviewLimits, OneLongRunInTwentyIsCutAndTwoAreNot) {
  std::vector<JobRecord> jobs = Times(20, kHour, 24 * kHour, "train");
  jobs[7].end = *jobs[7].start + 10 * kHour;
  EXPECT_EQ(ReviewLimits(jobs).groups[0].limit, kHour);
  EXPECT_EQ(ReviewLimits(jobs).groups[0].cut, 1);
  jobs[9].end = *jobs[9].start + 9 * kHour;
  EXPECT_EQ(ReviewLimits(jobs).groups[0].limit, 9 * kHour);
  EXPECT_EQ(ReviewLimits(jobs).groups[0].cut, 1);
}

TEST(ReviewLimits, WhatFailedSaysNothingOfWhatAWholeRunNeeds) {
  std::vector<JobRecord> jobs = Times(10, 8 * kHour, 24 * kHour, "train");
  for (size_t i = 0; i < 5; ++i) {
    jobs[i].end = *jobs[i].start + 60;
    jobs[i].state = "FAILED";
  }
  EXPECT_EQ(ReviewLimits(jobs).groups[0].limit, 8 * kHour);
  EXPECT_EQ(ReviewLimits(jobs).groups[0].failed, 5);
}

TEST(ReviewLimits, RunsThatWereCutNeedMoreThanAnyoneKnows) {
  std::vector<JobRecord> jobs = Times(10, 4 * kHour, 4 * kHour, "train");
  for (JobRecord& job : jobs) job.state = "TIMEOUT";
  EXPECT_FALSE(ReviewLimits(jobs).groups[0].limit);
}

TEST(ReviewLimits, NamesOfFewRunsAreTakenTogetherAndTooFewHaveNoLimit) {
  std::vector<JobRecord> jobs = Times(3, kHour, 24 * kHour, "a");
  for (JobRecord& job : Times(3, kHour, 24 * kHour, "b")) jobs.push_back(job);
  PastLimits review = ReviewLimits(jobs);
  ASSERT_EQ(review.groups.size(), 1U);
  EXPECT_EQ(review.groups[0].name, "");
  EXPECT_EQ(review.groups[0].gpu, "a100");
  EXPECT_EQ(review.groups[0].limit, kHour);
  jobs.resize(4);
  EXPECT_FALSE(ReviewLimits(jobs).groups[0].limit);
  EXPECT_EQ(ReviewLimits({}).jobs, 0);
}

RC_GTEST_PROP(ReviewLimits, TheLimitCutsOneInTwentyAtMostAndIsShorterThanTheUsualOne, ()) {
  const auto hours =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 30)));
  std::vector<JobRecord> jobs;
  for (const int each : hours) {
    jobs.push_back(
        Ran(static_cast<int64_t>(jobs.size()), "ann", "x", 0, 0, each * kHour / 2, 24 * kHour));
  }
  for (const PastLimitGroup& group : ReviewLimits(jobs).groups) {
    if (!group.limit) continue;
    RC_ASSERT(*group.limit < group.usual_limit);
    RC_ASSERT(static_cast<double>(group.cut) <= 0.05 * static_cast<double>(group.jobs) + 1e-9);
  }
}

// ---- the two plays
// -------------------------------------------------------------------------------

constexpr const char* kCluster = "node n[1-2] a100:4 cpus 16\nconfig scheduler sched/backfill";

std::vector<PastJob> PastOfAll(const std::vector<JobRecord>& records) {
  std::vector<PastJob> jobs;
  for (const JobRecord& record : records) jobs.emplace_back().record = record;
  return jobs;
}

// Every ten hours: bob holds one node for eight of them, then wants both; ann's job of an hour
// comes behind and fits before bob's second one where its limit says so.
std::vector<JobRecord> DayWithHoles(int times, int64_t ann_limit) {
  std::vector<JobRecord> jobs;
  int64_t id = 0;
  for (int i = 0; i < times; ++i) {
    const int64_t at = i * 10 * kHour;
    jobs.push_back(Ran(++id, "bob", "", at, at, 8 * kHour, 8 * kHour));
    jobs.push_back(Ran(++id, "bob", "", at + 60, at + 8 * kHour, kHour, kHour, 8));
    jobs.back().nodes = 2;
    jobs.push_back(Ran(++id, "ann", "train", at + 120, at + 9 * kHour, kHour, ann_limit));
  }
  return jobs;
}

PastLimits Replayed(const std::vector<JobRecord>& all, UnixSeconds from = kDay,
                    const std::function<bool()>& stop = {}) {
  std::vector<JobRecord> own;
  for (const JobRecord& job : all) {
    if (job.user == "ann") own.push_back(job);
  }
  PastLimits review = ReviewLimits(own);
  const Snapshot cluster = SnapshotOf(kCluster);
  ReplayLimits({cluster, PastOfAll(all), from, "ann", stop}, review);
  return review;
}

TEST(ReplayLimits, AShorterLimitThatFitsTheHolesSavesTheWaitForThem) {
  const PastLimits review = Replayed(DayWithHoles(6, 12 * kHour));
  ASSERT_TRUE(review.replay) << review.no_replay;
  EXPECT_EQ(review.replay->own_jobs, 6);
  EXPECT_EQ(review.replay->all_jobs, 18);
  EXPECT_NEAR(review.replay->own_wait, 6 * 9 * kHour, 6 * 300);
  EXPECT_NEAR(review.replay->wait, 0, 6 * 300);
  EXPECT_EQ(review.replay->cut, 0);
  EXPECT_NEAR(*review.groups[0].saved_seconds, review.replay->saved(), 1);
  const std::vector<std::string> words = InWords(review, kSnapshotTime);
  EXPECT_EQ(words[0], "6 jobs used 8.3 % of the requested time: 6.0 h of 72 h.");
  EXPECT_THAT(words[1], HasSubstr("they would have waited 53 h less: 0.4 h instead of 54 h."));
  EXPECT_EQ(words[2], "No run would have been cut off.");
  EXPECT_THAT(words[3], HasSubstr("18 jobs of all users since 10 d ago"));
}

TEST(ReplayLimits, ARunThatIsCutIsPlayedAgainAndItsSecondWaitCounts) {
  std::vector<JobRecord> all = DayWithHoles(20, 12 * kHour);
  for (JobRecord& job : all) {
    if (job.id == 3 * 11) job.end = *job.start + 2 * kHour - 600;  // no longer in its hour
  }
  const PastLimits review = Replayed(all);
  ASSERT_TRUE(review.replay) << review.no_replay;
  EXPECT_EQ(review.groups[0].limit, kHour);
  EXPECT_EQ(review.replay->cut, 1);
  EXPECT_DOUBLE_EQ(review.replay->redone_seconds, kHour);
  EXPECT_GT(review.replay->wait, 6 * kHour);  // until bob's second job is done
  EXPECT_THAT(
      InWords(review, kSnapshotTime)[2],
      HasSubstr("1 of 20 runs would have been cut off and repeated, 1.0 h of them in vain"));
}

TEST(ReplayLimits, WhoeverRunsWhenTheDaysBeginHoldsHisNodesUntilHeWasDone) {
  std::vector<JobRecord> all = DayWithHoles(6, 12 * kHour);
  const PastLimits review = Replayed(all, kDay + 100);  // bob's first runs, his second waits
  ASSERT_TRUE(review.replay) << review.no_replay;
  EXPECT_EQ(review.replay->own_jobs, 6);
  EXPECT_NEAR(review.replay->own_wait, 6 * 9 * kHour, 6 * 300);
}

TEST(ReplayLimits, WhatCannotBePlayedIsSaidInOneSentence) {
  EXPECT_THAT(InWords(Replayed(DayWithHoles(4, 12 * kHour)), kSnapshotTime)[1],
              HasSubstr("has five complete runs"));
  const PastLimits later = Replayed(DayWithHoles(6, 12 * kHour), kSnapshotTime);
  EXPECT_THAT(later.no_replay, HasSubstr("none of these jobs is within the days"));
  const PastLimits stopped = Replayed(DayWithHoles(6, 12 * kHour), kDay, [] { return true; });
  EXPECT_THAT(stopped.no_replay, HasSubstr("exceeds the time limit of a question"));
  EXPECT_EQ(InWords(ReviewLimits({}), kSnapshotTime).front(),
            "No job with a time limit ended in that period.");
}

TEST(ReplayLimits, OnAnEmptyClusterNothingIsSaved) {
  std::vector<JobRecord> all;
  for (const JobRecord& job : DayWithHoles(6, 12 * kHour)) {
    if (job.user == "ann") all.push_back(job);
  }
  const PastLimits review = Replayed(all);
  ASSERT_TRUE(review.replay) << review.no_replay;
  EXPECT_NEAR(review.replay->saved(), 0, 60);
  EXPECT_EQ(InWords(review, kSnapshotTime)[1],
            "With the limits below they would have waited about as long.");
}

}  // namespace
}  // namespace gpuadvise
