#include "daemon/state/submitted_jobs.h"

#include <gtest/gtest.h>

#include <string>

#include "daemon/state/plan_budget.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

constexpr int64_t kAnn = 1001;
constexpr int64_t kEve = 666;
constexpr UnixSeconds kNow = kSnapshotTime;

// A queue that shows `ids`, all bob's and just submitted.
Snapshot Queue(const std::vector<int64_t>& ids) {
  std::string text = "node n1 gpu4090:4\n";
  for (const int64_t id : ids) text += "pend " + std::to_string(id) + " gpu4090:1 user bob\n";
  Snapshot snapshot = SnapshotOf(text);
  for (Job& job : snapshot.jobs) {
    job.uid = 1002;
    job.submit_time = kNow;
  }
  return snapshot;
}

Job Claimed(int64_t id, int64_t uid) {
  Job job = Queue({id}).jobs.at(0);
  job.uid = uid;
  job.user = uid == kAnn ? "ann" : "eve";
  return job;
}

class SubmittedJobsTest : public testing::Test {
 protected:
  SubmittedJobsTest() { jobs_.Settle(base_); }

  Result<ClaimNews> Claim(int64_t id, int64_t uid) {
    return jobs_.Add(Claimed(id, uid), base_, kNow);
  }

  size_t ClaimsOf(int64_t uid) const {
    size_t count = 0;
    for (const Job& job : jobs_.Jobs()) count += job.uid == uid ? 1 : 0;
    return count;
  }

  Snapshot base_ = Queue({100'000});
  SubmittedJobs jobs_;
};

TEST_F(SubmittedJobsTest, OneUserHasSoManyAndNobodyElseHasFewer) {
  ASSERT_EQ(Claim(100'001, kAnn), ClaimNews::kNew);
  size_t taken = 0;
  for (int64_t id = 100'100; id < 100'600; ++id) taken += Claim(id, kEve) ? 1 : 0;
  EXPECT_EQ(taken, kUsualClaims);
  const auto refused = Claim(100'700, kEve);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("100 of your submitted jobs"), std::string::npos);
  EXPECT_EQ(ClaimsOf(kAnn), 1u);
  EXPECT_EQ(Claim(100'002, kAnn), ClaimNews::kNew);
}

TEST_F(SubmittedJobsTest, NoUsersClaimsPushOutAnothersWhereAllTogetherAreTooMany) {
  ASSERT_TRUE(Claim(100'001, kAnn));
  for (size_t i = 1; i < SubmittedJobs::kMost; ++i) {
    const auto other = static_cast<int64_t>(i);
    ASSERT_TRUE(Claim(90'000 + other, 5'000 + other / static_cast<int64_t>(kUsualClaims))) << i;
  }
  EXPECT_TRUE(Claim(100'002, kAnn)) << "who has most loses one";
  EXPECT_EQ(jobs_.Jobs().size(), SubmittedJobs::kMost);
  EXPECT_EQ(ClaimsOf(kAnn), 2u);
  EXPECT_EQ(ClaimsOf(5'001), kUsualClaims - 1);
}

TEST_F(SubmittedJobsTest, RepeatingAClaimIsNoNews) {
  EXPECT_EQ(Claim(100'001, kAnn), ClaimNews::kNew);
  EXPECT_EQ(Claim(100'001, kAnn), ClaimNews::kRepeated);
  EXPECT_EQ(jobs_.Jobs().size(), 1u);
}

TEST_F(SubmittedJobsTest, TheQueueSaysWhoseAJobIs) {
  base_.jobs[0].array_job_id = 99'990;
  jobs_.Settle(base_);
  EXPECT_EQ(Claim(100'000, 1002), ClaimNews::kShown);
  for (const int64_t id : {int64_t{100'000}, int64_t{99'990}}) {
    const auto refused = Claim(id, kEve);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("is not yours"), std::string::npos);
  }
}

TEST_F(SubmittedJobsTest, AnIdThatSlurmIsNowhereNearIsRefusedWithTheReason) {
  EXPECT_TRUE(Claim(105'000, kEve));
  EXPECT_TRUE(Claim(95'000, kEve)) << "it may have ended already";
  for (const int64_t id : {int64_t{200'000}, int64_t{12}, int64_t{1} << 40}) {
    const auto refused = Claim(id, kEve);
    ASSERT_FALSE(refused) << id;
    EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
    EXPECT_NE(refused.error().message.find("the newest job in the queue is 100000"),
              std::string::npos);
  }
}

TEST(PlausibleIds, TheLongerNothingWasSubmittedTheFurtherSlurmMayBe) {
  const NewestIds ids = NewestIdsOf(Queue({500}));
  EXPECT_FALSE(IsPlausible(200'000, ids, kNow));
  EXPECT_TRUE(IsPlausible(200'000, ids, kNow + 3'600));
  EXPECT_TRUE(IsPlausible(200'000, NewestIdsOf(Queue({})), kNow)) << "nothing is known";
  Snapshot simulated = Queue({500});
  simulated.source = "sim";
  EXPECT_TRUE(IsPlausible(200'000, NewestIdsOf(simulated), kNow)) << "its sbatch counts by itself";
}

TEST(PlausibleIds, IdsWrapAround) {
  Snapshot queue = Queue({67'043'000, 67'043'100});
  for (Job& job : queue.jobs) job.submit_time = kNow - 86'400;
  Job wrapped = Claimed(7, kAnn);
  wrapped.submit_time = kNow;
  queue.jobs.push_back(wrapped);
  EXPECT_TRUE(IsPlausible(8, NewestIdsOf(queue), kNow));
}

TEST_F(SubmittedJobsTest, TheNextSnapshotSettlesWhoHasTheJob) {
  ASSERT_TRUE(Claim(100'001, kEve));
  ASSERT_TRUE(Claim(100'001, kAnn));
  ASSERT_EQ(jobs_.Jobs().size(), 1u) << "one id is one job";
  EXPECT_EQ(jobs_.Jobs()[0].uid, kAnn) << "who claims ahead hides nobody's";
  EXPECT_EQ(Claim(100'001, kEve), ClaimNews::kRepeated);
  EXPECT_EQ(jobs_.Jobs()[0].uid, kAnn);
  jobs_.Settle(Queue({100'000, 100'001}));
  EXPECT_TRUE(jobs_.empty());
}

TEST_F(SubmittedJobsTest, AClaimIsForgottenAfterThreePollsAndMakesRoom) {
  for (int64_t id = 1; id <= 100; ++id) ASSERT_TRUE(Claim(100'000 + id, kEve));
  for (int poll = 0; poll < SubmittedJobs::kPollsUntilForgotten; ++poll) {
    EXPECT_EQ(ClaimsOf(kEve), 100u) << poll;
    jobs_.Settle(base_);
  }
  EXPECT_TRUE(jobs_.empty());
  EXPECT_EQ(Claim(100'001, kEve), ClaimNews::kNew);
}

TEST_F(SubmittedJobsTest, WhoseClaimsWereNeverSeenHasFewerForAWhile) {
  int64_t id = 100'001;
  const auto claim_all = [&] {
    size_t taken = 0;
    for (int i = 0; i < 150; ++i) taken += Claim(id++, kEve) ? 1 : 0;
    return taken;
  };
  EXPECT_EQ(claim_all(), kUsualClaims);
  for (int poll = 0; poll < SubmittedJobs::kPollsUntilForgotten; ++poll) jobs_.Settle(base_);
  EXPECT_EQ(claim_all(), static_cast<size_t>(kLeastClaims));
  EXPECT_TRUE(Claim(id++, kAnn)) << "others have theirs";
  for (size_t poll = 0; poll < kUsualClaims + 20; ++poll) jobs_.Settle(base_);
  EXPECT_EQ(claim_all(), kUsualClaims);
}

TEST_F(SubmittedJobsTest, WhoseClaimsWereOthersJobsHasFewerToo) {
  std::vector<int64_t> bobs = {100'000};
  for (int64_t id = 100'001; id <= 100'100; ++id) {
    ASSERT_TRUE(Claim(id, kEve));
    bobs.push_back(id);
  }
  base_ = Queue(bobs);
  jobs_.Settle(base_);
  size_t taken = 0;
  for (int64_t id = 100'101; id < 100'300; ++id) taken += Claim(id, kEve) ? 1 : 0;
  EXPECT_EQ(taken, static_cast<size_t>(kLeastClaims));
}

TEST_F(SubmittedJobsTest, LargeClaimsAreFewer) {
  Job large = Claimed(100'001, kEve);
  large.request.excluded_nodes.assign(20'000, "a-node-with-a-name-that-lies-on-the-heap");
  size_t taken = 0;
  for (; taken < 100; ++taken) {
    large.id = 100'001 + static_cast<int64_t>(taken);
    if (!jobs_.Add(large, base_, kNow)) break;
  }
  EXPECT_GE(taken, 1u);
  EXPECT_LE(taken, 8u);
}

// ---- what the site lets a user submit --------------------------------------------------------

class MostClaimsTest : public testing::Test {
 protected:
  MostClaimsTest() {
    snapshot_.config.enforce = "associations,limits";
    Association own;
    own.account = "lab";
    own.user = "ann";
    own.is_default = true;
    snapshot_.associations = {own};
    for (int i = 0; i < 30; ++i) {
      Job queued = Claimed(200 + i, kAnn);
      queued.account = "lab";
      snapshot_.jobs.push_back(queued);
    }
    job_.account = "lab";
  }

  Snapshot snapshot_ = Queue({100});
  Job job_ = Claimed(300, kAnn);
};

TEST_F(MostClaimsTest, AHundredWithoutALimit) { EXPECT_EQ(MostClaims(snapshot_, job_), 100u); }

TEST_F(MostClaimsTest, TheAssociationsLimitLessWhatIsInTheQueue) {
  snapshot_.associations[0].limits.max_submit_jobs = SlurmNumber(50);
  EXPECT_EQ(MostClaims(snapshot_, job_), 20u);
  snapshot_.associations[0].limits.max_submit_jobs = SlurmNumber(500);
  EXPECT_EQ(MostClaims(snapshot_, job_), 470u);
  snapshot_.associations[0].limits.max_submit_jobs = SlurmNumber(30);
  EXPECT_EQ(MostClaims(snapshot_, job_), 10u) << "some may have left the queue";
  snapshot_.config.enforce = "";
  EXPECT_EQ(MostClaims(snapshot_, job_), 100u) << "it is not enforced";
}

TEST_F(MostClaimsTest, TheQosLimitToo) {
  snapshot_.associations[0].limits.max_submit_jobs = SlurmNumber(500);
  Qos qos;
  qos.name = "long";
  qos.limits.max_submit_jobs = SlurmNumber(15);
  snapshot_.qos = {qos};
  job_.qos = "long";
  EXPECT_EQ(MostClaims(snapshot_, job_), 15u);
}

// ---- the time that claims may take -----------------------------------------------------------

TEST(PlanBudget, ABurstIsPlannedAtOnceAndAFloodTakesASmallShare) {
  PlanBudget budget;
  constexpr double kOne = 0.1;
  int at_once = 0;
  for (; budget.MayPlan(kEve, kNow) && at_once < 1'000; ++at_once) budget.Spend(kEve, kOne, kNow);
  EXPECT_NEAR(at_once, PlanBudget::kBurstSeconds / kOne, 1);
  int planned = 0;
  for (UnixSeconds now = kNow + 1; now <= kNow + 1'000; ++now) {
    while (budget.MayPlan(kEve, now)) {
      budget.Spend(kEve, kOne, now);
      ++planned;
    }
  }
  EXPECT_NEAR(planned * kOne, 1'000 * PlanBudget::kShare, 1);
}

TEST(PlanBudget, OneUsersFloodLeavesOthersTheirs) {
  PlanBudget budget;
  while (budget.MayPlan(kEve, kNow)) budget.Spend(kEve, 0.1, kNow);
  EXPECT_TRUE(budget.MayPlan(kAnn, kNow));
}

TEST(PlanBudget, AllTogetherHaveAShareToo) {
  PlanBudget budget;
  for (int64_t uid = 1; uid <= 100; ++uid) {
    while (budget.MayPlan(uid, kNow)) budget.Spend(uid, 0.1, kNow);
  }
  EXPECT_FALSE(budget.MayPlan(kAnn, kNow));
  EXPECT_TRUE(budget.MayPlan(kAnn, kNow + 1));
}

TEST(PlanBudget, AClockThatIsPutBackGivesNothing) {
  PlanBudget budget;
  while (budget.MayPlan(kEve, kNow)) budget.Spend(kEve, 0.1, kNow);
  EXPECT_FALSE(budget.MayPlan(kEve, kNow - 86'400));
}

}  // namespace
}  // namespace gpuadvise::daemon
