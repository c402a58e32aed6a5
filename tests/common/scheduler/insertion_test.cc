// A request as one more job of the queue: where it may run, where it stands, and why not.
#include "common/scheduler/insertion.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tests/common/scheduler/queue_of.h"

namespace gpuadvise {
namespace {

const Submitter kAnn{1001, "ann", "lab", ""};
const Submitter kUrgentAnn{1001, "ann", "lab", "urgent"};

Result<PendingJob> Inserted(const std::string& world, const std::string& request,
                            const Submitter& submitter = kAnn) {
  return MakePendingJob(*QueueOf(world), RequestOf(request), submitter);
}

std::string WhyNot(const std::string& world, const std::string& request,
                   const Submitter& submitter = kAnn) {
  const auto job = Inserted(world, request, submitter);
  return job ? "" : job.error().message;
}

// How many of the queue come before the request.
int64_t Before(const std::string& world, const std::string& request,
               const Submitter& submitter = kAnn) {
  const auto queue = QueueOf(world);
  const auto job = MakePendingJob(*queue, RequestOf(request), submitter);
  if (!job) return -1;
  return std::count_if(queue->pending().begin(), queue->pending().end(),
                       [&](const PendingJob& other) { return other.rank < job->rank; });
}

TEST(Insertion, WithoutAPartitionTheDefaultOneIsMeant) {
  const std::string world = "node n[1-2] a:4\npartition p n1\npartition q n2\n";
  EXPECT_EQ(Inserted(world, "a:1")->options.front().partition, 0);
  EXPECT_EQ(Inserted(world, "a:1 in q")->options.front().partition, 1);
  Snapshot none = SnapshotOf(world);
  for (Partition& partition : none.partitions) partition.is_default = false;
  const QueueModel queue(std::make_shared<const Snapshot>(none), nullptr, {});
  EXPECT_EQ(MakePendingJob(queue, RequestOf("a:1"), kAnn).error().message,
            "this cluster has no default partition; name one with --partition");
}

TEST(Insertion, AnUnknownPartitionIsAnsweredWithThoseThatMayBeSeen) {
  Snapshot snapshot = SnapshotOf("node n1\npartition gpu n1\npartition secret n1");
  snapshot.partitions[1].hidden = true;
  const QueueModel queue(std::make_shared<const Snapshot>(snapshot), nullptr, {});
  const auto job = MakePendingJob(queue, RequestOf("cpus 1 in gpuu"), kAnn);
  EXPECT_EQ(job.error().message,
            "there is no partition 'gpuu' (did you mean 'gpu'?); there are gpu");
  EXPECT_EQ(job.error().code, ErrorCode::kNotFound);
}

TEST(Insertion, EveryPartitionThatAdmitsIsAWay) {
  const std::string world =
      "node n[1-3] a:4\npartition p n1\npartition q n2 allow-accounts other\npartition r n3\n";
  const auto job = Inserted(world, "a:1 in p,q,r");
  ASSERT_EQ(job->options.size(), 2u);
  EXPECT_EQ(job->options[1].partition, 2);
  EXPECT_EQ(WhyNot(world, "a:1 in q"), "partition q is for the accounts other, not lab");
}

TEST(Insertion, WhereNoPartitionAdmitsTheFirstReasonIsSaid) {
  const std::string world = "node n[1-2] a:4\npartition p n1 max 1h\npartition q n2\n";
  EXPECT_EQ(WhyNot(world, "a:8 limit 2h in p,q"),
            "time limit 2 h exceeds the 1 h that partition p allows");
}

TEST(Insertion, AWayHasTheTimesOfTheRequest) {
  const PartitionOption way =
      Inserted("node n1 a:4", "a:1 nodes 1 limit 90s begin 1h")->options.front();
  EXPECT_EQ(way.duration, 120);
  EXPECT_EQ(way.earliest, 3600);
  EXPECT_EQ(way.latest, kNever);
  const PartitionOption reserved =
      Inserted("node n1 a:4\nreserve class n1 from 1h to 2h users ann", "a:1 reservation class")
          ->options.front();
  EXPECT_EQ(reserved.earliest, 3600);
  EXPECT_EQ(reserved.latest, 7200);
}

TEST(Insertion, AReservationAdmitsItsUsersAndAccountsAlone) {
  const auto why = [](const std::string& who) {
    return WhyNot("node n1 a:4\nreserve class n1 from 1h to 2h " + who, "a:1 reservation class");
  };
  EXPECT_EQ(why("users ann"), "");
  EXPECT_EQ(why("accounts lab"), "");
  EXPECT_EQ(why("users -bob"), "");
  EXPECT_EQ(why("users bob"), "user ann with account 'lab' may not use reservation 'class'");
  EXPECT_EQ(why("users -ann"), "user ann with account 'lab' may not use reservation 'class'");
  EXPECT_EQ(why("users ann accounts other"),
            "user ann with account 'lab' may not use reservation 'class'");
}

TEST(Insertion, ALimitThatTheRequestAloneIsOverNeverLetsItStart) {
  const std::string world =
      "config enforce limits\nqos normal group gres/gpu=2\nassoc lab user ann default-qos normal\n"
      "node n1 a:4\n";
  EXPECT_EQ(WhyNot(world, "a:2"), "");
  EXPECT_NE(WhyNot(world, "a:3"), "");
}

TEST(Insertion, WithBasicPriorityItComesLast) {
  EXPECT_EQ(Before("node n1 a:4\npend 8 a:4 priority 7\npend 9 a:4 priority 5", "a:1"), 2);
}

TEST(Insertion, AJobOfAReservationComesBeforeAllOthers) {
  const std::string world =
      "node n1 a:4\nreserve class n1 from 1h to 2h users ann\npend 8 a:4 priority 9000\n";
  EXPECT_EQ(Before(world, "a:1 reservation class"), 0);
  EXPECT_EQ(Before(world, "a:1"), 1);
}

TEST(Insertion, TheBestTierOfItsPartitionsCounts) {
  const std::string world =
      "node n[1-2] a:4\npartition low n1 tier 1\npartition high n2 tier 5\n"
      "pend 8 a:4 in low priority 9000\npend 9 a:4 in high priority 9000\n";
  EXPECT_EQ(Before(world, "a:1 in low"), 2);
  EXPECT_EQ(Before(world, "a:1 in low,high"), 1);
}

// Jobs of two tiers and any priority, and a request whose priority its QOS decides.
RC_GTEST_PROP(Insertion, TheRequestStandsWhereItsPrioritySays, ()) {
  const auto draw = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
  const int qos = draw(1, 9);
  const bool high = draw(0, 1) == 1;
  std::ostringstream world;
  world << "config priority multifactor qos 900\nqos top priority 9\nqos urgent priority " << qos
        << "\nnode n[1-2] a:4\npartition p n1 tier 1\npartition q n2 tier 2\n";
  int64_t before = 0;
  for (int id = 10 + draw(0, 8); id > 10; --id) {
    const int priority = draw(1, 10) * 100;
    const bool other_high = draw(0, 1) == 1;
    world << "pend " << id << " a:4 priority " << priority << (other_high ? " in q\n" : " in p\n");
    const bool same_tier = high == other_high;
    before += (same_tier ? priority >= qos * 100 : other_high) ? 1 : 0;
  }
  RC_ASSERT(Before(world.str(), high ? "a:1 in q" : "a:1 in p", kUrgentAnn) == before);
}

TEST(Insertion, TheRecordIsWhatHistoryKnowsOfAJob) {
  const JobRecord record =
      RecordFor(*QueueOf("node n1 a:4"), RequestOf("a:2 limit 2h"), kUrgentAnn);
  EXPECT_EQ(record.user, "ann");
  EXPECT_EQ(record.account, "lab");
  EXPECT_EQ(record.qos, "urgent");
  EXPECT_EQ(record.gpu, "a");
  EXPECT_EQ(record.gpus, 2);
  EXPECT_EQ(record.limit_seconds, 7200);
  EXPECT_EQ(record.submit, kSnapshotTime);
}

TEST(Insertion, NodesMayBeLostWhereAStrongerQosMayTakeThem) {
  const std::string world =
      "config preempt qos preempt-mode REQUEUE\nqos low\nqos high preempts low\nnode n1 a:4\n";
  const auto may_lose = [&](const std::string& qos) {
    const auto queue = QueueOf(world);
    return MayLose(*queue, *MakePendingJob(*queue, RequestOf("a:1"), {1001, "ann", "lab", qos}));
  };
  EXPECT_TRUE(may_lose("low"));
  EXPECT_FALSE(may_lose("high"));
}

TEST(Insertion, WhatNeverComesFreeNamesThePartition) {
  const auto queue = QueueOf("node n1 a:4\npartition gpu n1");
  const auto job = MakePendingJob(*queue, RequestOf("a:1"), kAnn);
  EXPECT_NE(NeverFreeError(*queue, *job).value().message.find("in partition gpu"),
            std::string::npos);
}

}  // namespace
}  // namespace gpuadvise
