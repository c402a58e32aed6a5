#include "daemon/state/cluster_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "tests/daemon/fake_clock.h"
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

Job Submitted(int64_t id) {
  Job job =
      SnapshotOf(std::string(kCluster) + "pend " + std::to_string(id) + " gpu4090:4").jobs.at(0);
  return job;
}

class ClusterStateTest : public testing::Test {
 protected:
  std::vector<int64_t> JobIds() const {
    std::vector<int64_t> ids;
    for (const Job& job : state_.state()->snapshot->jobs) ids.push_back(job.id);
    return ids;
  }

  void AddSubmitted(Job job) {
    const int64_t uid = job.uid;
    ASSERT_TRUE(state_.Claim(std::move(job)));
    state_.PlanClaims(uid);
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

TEST_F(ClusterStateTest, ASubmittedJobIsThereAtOnceAndInItsPlace) {
  state_.Accept(Taken("pend 5 gpu4090:1\npend 9 gpu4090:1\n"));
  AddSubmitted(Submitted(7));
  EXPECT_EQ(JobIds(), (Ids{5, 7, 9}));
}

TEST_F(ClusterStateTest, ASubmittedJobPushesTheNextOneBack) {
  state_.Accept(Taken(""));
  const JobRequest whole_node = RequestOf("gpu4090:4 limit 1h");
  const Submitter ann{1001, "ann", "", ""};
  for (int64_t id = 1; id <= 2; ++id) {
    EXPECT_EQ(StartOf(*state_.state()->queue, whole_node, ann)->wait_seconds.front(), 0);
    AddSubmitted(Submitted(id));
  }
  EXPECT_GT(StartOf(*state_.state()->by_time_limit, whole_node, ann)->wait_seconds.front(), 0);
  EXPECT_GT(StartOf(*state_.state()->queue, whole_node, ann)->Mean(), 0);
}

TEST_F(ClusterStateTest, ASubmittedJobIsOursUntilASnapshotShowsIt) {
  state_.Accept(Taken(""));
  AddSubmitted(Submitted(7));
  state_.Accept(Taken("pend 7 gpu4090:1\n"));
  EXPECT_EQ(JobIds(), (Ids{7}));
  state_.Accept(Taken(""));
  EXPECT_EQ(JobIds(), Ids{});
}

TEST_F(ClusterStateTest, ASubmittedJobIsForgottenAfterThreePollsWithoutIt) {
  state_.Accept(Taken(""));
  AddSubmitted(Submitted(7));
  state_.Accept(Taken(""));
  state_.Accept(Taken(""));
  EXPECT_EQ(JobIds(), (Ids{7}));
  state_.Accept(Taken(""));
  EXPECT_EQ(JobIds(), Ids{});
}

TEST_F(ClusterStateTest, AJobThatIsShownAlreadyIsNotAddedAgain) {
  state_.Accept(Taken("pend 7 gpu4090:1\n"));
  AddSubmitted(Submitted(7));
  EXPECT_EQ(JobIds(), (Ids{7}));
}

TEST_F(ClusterStateTest, AnArrayIsShownUnderItsOwnIdByAnyOfItsTasks) {
  state_.Accept(Taken(""));
  AddSubmitted(Submitted(7));
  state_.Accept(Taken("pend 8 gpu4090:1 array 7\n"));
  EXPECT_EQ(JobIds(), (Ids{8}));
}

TEST_F(ClusterStateTest, TheSameJobReportedTwiceCountsOnce) {
  state_.Accept(Taken(""));
  AddSubmitted(Submitted(7));
  AddSubmitted(Submitted(7));
  EXPECT_EQ(JobIds(), (Ids{7}));
}

TEST_F(ClusterStateTest, AFloodOfClaimsWaitsForTheNextSnapshot) {
  int states = 0;
  state_.SetOnNewState([&] { ++states; });
  std::string shown;
  state_.Accept(Taken(""));
  for (int64_t id = 1; id <= 400; ++id) {
    AddSubmitted(Submitted(id));
    shown += "pend " + std::to_string(id) + " gpu4090:1\n";
    if (id % 100 == 0) state_.Accept(Taken(shown));
  }
  const auto planned = static_cast<double>(states - 5);
  EXPECT_GE(planned, 1) << "the first is seen at once, however long that takes";
  EXPECT_LE(planned, PlanBudget::kBurstSeconds / PlanBudget::kLeastSeconds);
  AddSubmitted(Submitted(401));
  state_.Accept(Taken(shown));
  EXPECT_EQ(JobIds().size(), 401u) << "what waited is in the next state";
}

TEST_F(ClusterStateTest, RepeatedClaimsMakeNoNewState) {
  state_.Accept(Taken(""));
  AddSubmitted(Submitted(7));
  const auto before = state_.state();
  for (int again = 0; again < 5; ++again) AddSubmitted(Submitted(7));
  EXPECT_EQ(state_.state(), before);
}

TEST_F(ClusterStateTest, NewKnowledgeIsInTheNextView) {
  state_.Accept(Taken(""));
  const auto catalogues = Shipped();
  state_.SetCatalogues(catalogues);
  EXPECT_EQ(state_.state()->catalogues, catalogues);
}

TEST_F(ClusterStateTest, ReportsFromManyThreadsAllArrive) {
  state_.Accept(Taken(""));
  std::vector<std::thread> reporters;
  for (int first = 0; first < 4; ++first) {
    reporters.emplace_back([this, first] {
      for (int64_t id = first * 10 + 1; id <= first * 10 + 10; ++id) {
        AddSubmitted(Submitted(id));
        const auto state = state_.state();
        const auto& jobs = state->snapshot->jobs;
        EXPECT_TRUE(
            std::any_of(jobs.begin(), jobs.end(), [id](const Job& job) { return job.id == id; }));
      }
    });
  }
  for (std::thread& reporter : reporters) reporter.join();
  EXPECT_EQ(JobIds().size(), 40u);
}

}  // namespace
}  // namespace gpuadvise::daemon
