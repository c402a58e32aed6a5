#include "daemon/state/cluster_state.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/daemon/fake_clock.h"
#include "tests/daemon/logged_lines.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

constexpr const char* kCluster = "node n[1-2] gpu4090:4\n";

std::shared_ptr<const Catalogues> Shipped() {
  return std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()});
}

std::shared_ptr<const Snapshot> Taken(const std::string& lines, UnixSeconds at = kSnapshotTime,
                                      const char* source = "slurm-cli") {
  Snapshot snapshot = SnapshotOf(kCluster + lines);
  snapshot.taken_at = at;
  snapshot.source = source;
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

class ClusterStateTest : public testing::Test {
 protected:
  std::vector<int64_t> JobIds() const {
    std::vector<int64_t> ids;
    for (const Job& job : state_.state()->snapshot->jobs) ids.push_back(job.id);
    return ids;
  }

  Freshness Now() const { return state_.FreshnessOf(state_.state().get()); }

  FakeClock clock_{kSnapshotTime};
  ClusterState state_{clock_, Shipped(), 120};
};

using Ids = std::vector<int64_t>;

TEST_F(ClusterStateTest, HasNoViewBeforeTheFirstSnapshot) {
  EXPECT_EQ(state_.state(), nullptr);
  state_.SetCause("slurmctld does not answer");
  EXPECT_EQ(Now().cause, "slurmctld does not answer");
}

TEST_F(ClusterStateTest, ASnapshotBecomesTheView) {
  state_.Accept(Taken("pend 7 gpu4090:1\n"));
  EXPECT_EQ(JobIds(), (Ids{7}));
  EXPECT_NE(state_.state()->queue, nullptr);
  EXPECT_FALSE(Now().cause);
}

TEST_F(ClusterStateTest, WhatTheSettingsLeaveOpenIsLoggedOnce) {
  const LoggedLines logged;
  state_.Accept(Taken("node x1 bigcard:4\n"));
  state_.Accept(Taken("node x1 bigcard:4\npend 7 gpu4090:1\n"));
  const std::string said = "GRES gpu:bigcard of x1";
  const size_t first = logged.text().find(said);
  EXPECT_NE(first, std::string::npos) << logged.text();
  EXPECT_EQ(logged.text().find(said, first + 1), std::string::npos) << logged.text();
}

TEST_F(ClusterStateTest, AReaderKeepsTheViewItHas) {
  state_.Accept(Taken("pend 7 gpu4090:1\n"));
  const auto old = state_.state();
  state_.Accept(Taken("pend 8 gpu4090:1\n"));
  EXPECT_EQ(old->snapshot->jobs.at(0).id, 7);
  EXPECT_EQ(JobIds(), (Ids{8}));
}

TEST_F(ClusterStateTest, TheAgeCountsFromWhenTheSnapshotWasTaken) {
  clock_.Advance(5);
  state_.Accept(Taken(""));
  clock_.Advance(7);
  EXPECT_EQ(Now().age_seconds, 12);
}

TEST_F(ClusterStateTest, ASnapshotOfTheFutureHasNoAge) {
  state_.Accept(Taken("", kSnapshotTime + 100));
  EXPECT_EQ(Now().age_seconds, 0);
}

TEST_F(ClusterStateTest, SimulatedAndRecordedTimeIsNotOurs) {
  for (const char* source : {"sim", "replay"}) {
    state_.Accept(Taken("", kSnapshotTime - 1'000'000, source));
    EXPECT_EQ(Now().age_seconds, 0) << source;
    EXPECT_FALSE(Now().cause) << source;
  }
  clock_.Advance(9);
  EXPECT_EQ(Now().age_seconds, 9);
}

TEST_F(ClusterStateTest, AnOldViewHasACauseEvenIfNobodyGaveOne) {
  state_.Accept(Taken(""));
  clock_.Advance(120);
  EXPECT_FALSE(Now().cause);
  clock_.Advance(1);
  EXPECT_EQ(Now().cause, "slurm-cli has provided nothing new for more than 120 s");
  state_.SetStaleAfter(1000);
  EXPECT_FALSE(Now().cause);
}

TEST_F(ClusterStateTest, ACauseStandsUntilTheNextSnapshot) {
  state_.Accept(Taken(""));
  state_.SetCause("slurm-cli was ended by signal 9 (Killed)");
  EXPECT_EQ(Now().cause, "slurm-cli was ended by signal 9 (Killed)");
  state_.Accept(Taken(""));
  EXPECT_FALSE(Now().cause);
}

TEST_F(ClusterStateTest, NewKnowledgeIsInTheNextView) {
  state_.Accept(Taken(""));
  const auto catalogues = Shipped();
  state_.SetCatalogues(catalogues);
  EXPECT_EQ(state_.state()->catalogues, catalogues);
}

}  // namespace
}  // namespace gpuadvise::daemon
