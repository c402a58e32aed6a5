#include <gtest/gtest.h>

#include "client/preflight/preflight.h"
#include "tests/client/fake_site.h"

namespace gpuadvise::client {
namespace {

constexpr int64_t kGb = 1'000'000'000;

struct Disk {
  int64_t free_gb = 900;
  std::optional<DiskQuota> quota;
};

// The home of Isaac-GR00T's team guide: 23.8 GB of quota, 1 GB used.
DiskQuota Home() { return {"server:/home", 1 * kGb, 0, 23'800'000'000, 10, 0}; }

Check Space(const CheckpointPlan& plan, const Disk& disk) {
  JobFacts facts;
  facts.output = PathOf(GoodFolder("/home/me/run", disk.free_gb * kGb));
  facts.quota = disk.quota;
  facts.checkpoints = plan;
  return SpaceChecks(facts).front();
}

CheckpointPlan Plan(int64_t gb, std::optional<int64_t> keep, std::optional<int64_t> save_steps) {
  return {gb * kGb, "", keep, save_steps, 10000};
}

TEST(Space, ThatIsEnoughIsOk) {
  const Check check = Space(Plan(7, 5, 500), {});
  EXPECT_EQ(check.health, Health::kOk);
  EXPECT_EQ(
      check.finding,
      "5 checkpoints and one more while the next is written, each 7 GB, take 42 GB; /home has "
      "900 GB free");
}

TEST(Space, TheGuidesHomeHoldsThreeCheckpoints) {
  const Check check = Space(Plan(7, {}, 2000), {.free_gb = 900, .quota = Home()});
  EXPECT_EQ(check.health, Health::kError);
  EXPECT_EQ(check.finding,
            "5 checkpoints (10,000 steps, one every 2,000), each 7 GB, take 35 GB, but your quota "
            "of 23.8 GB on /home leaves 22.8 GB, room for 3: keep: 2, or save_steps: 3400, or an "
            "output.dir with more room");
}

TEST(Space, WhatIsKeptNeedsRoomForOneMore) {
  EXPECT_EQ(Space(Plan(7, 2, 500), {.free_gb = 21, .quota = {}}).health, Health::kOk);
  EXPECT_EQ(Space(Plan(7, 3, 500), {.free_gb = 21, .quota = {}}).health, Health::kError);
  EXPECT_EQ(Space(Plan(7, 3, 5000), {.free_gb = 21, .quota = {}}).health, Health::kOk);
}

TEST(Space, ASoftQuotaIsAWarning) {
  DiskQuota quota = Home();
  quota.soft_bytes = 10 * kGb;
  const Check check = Space(Plan(7, 2, 500), {.free_gb = 900, .quota = quota});
  EXPECT_EQ(check.health, Health::kWarning);
  EXPECT_NE(check.finding.find("over your soft quota"), std::string::npos);
}

TEST(Space, ThatHoldsNotEvenOneSaysSo) {
  const Check check = Space(Plan(70, 5, 500), {.free_gb = 50, .quota = {}});
  EXPECT_NE(check.finding.find("no room for even one: an output.dir with more room"),
            std::string::npos)
      << check.finding;
}

TEST(Space, AnEstimatedSizeOnlyWarns) {
  CheckpointPlan plan = Plan(81, 5, 500);
  plan.estimated_from = "weights 4 and optimizer 8 bytes for each of 6.7 B parameters";
  const Check check = Space(plan, {.free_gb = 100, .quota = {}});
  EXPECT_EQ(check.health, Health::kWarning);
  EXPECT_NE(check.finding.find("each about 81 GB (weights 4 and"), std::string::npos);
}

TEST(Space, WithoutAnIntervalTheRoomIsSaid) {
  EXPECT_EQ(Space(Plan(7, {}, {}), {}).finding,
            "a checkpoint is 7 GB; /home has 900 GB free, room for 128");
  const Check few = Space(Plan(7, {}, {}), {.free_gb = 22, .quota = {}});
  EXPECT_EQ(few.health, Health::kWarning);
  EXPECT_EQ(few.finding,
            "a checkpoint is 7 GB; /home has 22 GB free, room for 3: keep: 2, or save_steps: 3400, "
            "or an output.dir with more room");
  EXPECT_EQ(Space(Plan(7, {}, {}), {.free_gb = 5, .quota = {}}).health, Health::kError);
}

TEST(Space, WithoutASizeOnlyTheRoomIsSaid) {
  EXPECT_EQ(
      Space(CheckpointPlan{}, {}).finding,
      "/home has 900 GB free; the checkpoint size is not known (set output.checkpoint: 7 GB)");
}

TEST(Space, AFullDiskIsAnErrorWhateverIsPlanned) {
  EXPECT_EQ(Space(CheckpointPlan{}, {.free_gb = 0, .quota = {}}).health, Health::kError);
  JobFacts facts;
  facts.output = PathOf(GoodFolder("/home/me/run"));
  facts.output->found.space->no_inodes = true;
  EXPECT_EQ(SpaceChecks(facts).front().finding, "/home has no inodes left; remove some files");
}

TEST(Space, NothingIsSaidWhereNothingIsKnown) {
  EXPECT_TRUE(SpaceChecks(JobFacts{}).empty());
  EXPECT_TRUE(QuotaChecks(JobFacts{}).empty());
}

TEST(Space, HugeNumbersAreNoTrouble) {
  CheckpointPlan plan{INT64_MAX, "", 1'000'000, 1, INT64_MAX};
  EXPECT_EQ(Space(plan, {}).health, Health::kError);
}

TEST(Interval, IsRoundedUpToWhatAPersonWouldWrite) {
  EXPECT_EQ(RoundInterval(1), 1);
  EXPECT_EQ(RoundInterval(99), 99);
  EXPECT_EQ(RoundInterval(101), 110);
  EXPECT_EQ(RoundInterval(3334), 3400);
  EXPECT_EQ(RoundInterval(2000), 2000);
}

Check Quota(std::optional<DiskQuota> quota) {
  JobFacts facts;
  facts.quota_asked = true;
  facts.quota = std::move(quota);
  return QuotaChecks(facts).front();
}

TEST(QuotaCheck, SaysWhatIsUsed) {
  EXPECT_EQ(Quota(Home()).finding, "1 GB of 23.8 GB used on server:/home");
  EXPECT_EQ(Quota({}).health, Health::kOk);
  DiskQuota none = Home();
  none.hard_bytes = 0;
  EXPECT_EQ(Quota(none).finding, "1 GB used on server:/home, no limit");
}

TEST(QuotaCheck, ExceededOnesAreErrorsAndSoftOnesWarnings) {
  DiskQuota quota = Home();
  quota.used_bytes = quota.hard_bytes;
  EXPECT_EQ(Quota(quota).health, Health::kError);
  quota.used_bytes = 21 * kGb;
  quota.soft_bytes = 20 * kGb;
  EXPECT_EQ(Quota(quota).health, Health::kWarning);
  quota.used_files = quota.hard_files = 1000;
  EXPECT_EQ(Quota(quota).finding,
            "1,000 of 1,000 files on server:/home: file limit reached; remove some");
}

TEST(QuotaCheck, AProgramThatDoesNotAnswerIsAWarning) {
  JobFacts facts;
  facts.quota_trouble = "/usr/bin/quota did not answer within 5 s";
  EXPECT_EQ(QuotaChecks(facts).front().finding,
            "/usr/bin/quota did not answer within 5 s: quotas are not checked");
}

}  // namespace
}  // namespace gpuadvise::client
