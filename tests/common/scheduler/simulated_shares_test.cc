#include "common/scheduler/simulated_shares.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/history/forecast_history.h"
#include "common/scheduler/simulation.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

constexpr int kSamples = 24;

// Ann and bob have equal shares; ann has used a little less.
constexpr const char* kSite =
    "config priority multifactor fairshare 10000 half-life 24h\n"
    "node n[1-2] a100:4\n"
    "assoc root usage 2000\n"
    "assoc lab parent root usage 2000\n"
    "assoc lab user ann usage 900 fair 1\n"
    "assoc lab user bob usage 1100 fair 0.5\n"
    "run 1 n1 a100:4 ends 5h user carl\n";

std::shared_ptr<const QueueModel> QueueWithHistory(const std::string& world) {
  static ForecastHistory* const past = new ForecastHistory;
  SimulationOptions options;
  options.samples = kSamples;
  auto queue = std::make_shared<QueueModel>(std::make_shared<const Snapshot>(SnapshotOf(world)),
                                            past, options);
  queue->Settle(nullptr);
  return queue;
}

// In how many samples job 8 starts before job 9.
int FirstIsEight(const std::string& world) {
  const auto queue = QueueWithHistory(world);
  EXPECT_EQ(queue->pending().size(), 2u);
  EXPECT_EQ(queue->pending().front().id, 8);
  int first = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::vector<SimulatedJob> jobs = SimulateSample(*queue, sample).jobs;
    EXPECT_EQ(jobs.size(), 2u);
    if (jobs.size() == 2 && jobs[0].start < jobs[1].start) ++first;
  }
  return first;
}

constexpr const char* kBothWait =
    "pend 8 a100:4 on n1 limit 3h priority 10000 user ann\n"
    "pend 9 a100:4 on n1 limit 3h priority 5000 user bob\n";

TEST(SimulatedShares, WhoUsesMoreWhileHisJobWaitsFallsBehind) {
  const std::string anns = std::string(kSite) + "run 2 n2 a100:4 ends 20h user ann\n" + kBothWait;
  EXPECT_LT(FirstIsEight(anns), kSamples / 4);  // where job 1 ends at once
  const std::string bobs = std::string(kSite) + "run 2 n2 a100:4 ends 20h user bob\n" + kBothWait;
  EXPECT_EQ(FirstIsEight(bobs), kSamples);
}

TEST(SimulatedShares, OtherPartsOfAPriorityKeepTheirWeight) {
  std::string anns = std::string(kSite) + "run 2 n2 a100:4 ends 20h user ann\n" + kBothWait;
  anns.replace(anns.find("priority 10000"), 14, "priority 90000");
  EXPECT_EQ(FirstIsEight(anns), kSamples);
}

TEST(SimulatedShares, NothingChangesWherePriorityDoesNotFollowFairShare) {
  std::string anns = std::string(kSite) + "run 2 n2 a100:4 ends 20h user ann\n" + kBothWait;
  anns.replace(anns.find("fairshare 10000"), 15, "fairshare 0");
  EXPECT_EQ(FirstIsEight(anns), kSamples);
}

TEST(SimulatedShares, ThePeriodIsTheSites) {
  std::string site = kSite;
  site.replace(site.find("config "), 7, "config calc-period 60s ");
  const auto queue = QueueWithHistory(site + kBothWait);
  SimulatedShares shares(*queue);
  shares.Restart();
  EXPECT_EQ(shares.Next(), 60);
  shares.Update(60);
  EXPECT_EQ(shares.Next(), 120);
}

TEST(SimulatedShares, CountsWhatIsUsedAndWhatDecays) {
  const auto queue = QueueWithHistory(std::string(kSite) + kBothWait);
  const auto leaf = [&](size_t association) {
    return queue->fair_shares().LeafOf(&queue->snapshot().associations[association]);
  };
  const int32_t ann = leaf(2), bob = leaf(3);
  SimulatedShares shares(*queue);
  shares.Restart();
  EXPECT_EQ(shares.Next(), 300);
  shares.Add(ann, .5);
  shares.Add(-1, 7);                 // of nobody
  EXPECT_FALSE(shares.Update(300));  // 1,050 and 1,100
  EXPECT_EQ(shares.Gained(ann), 0);
  EXPECT_TRUE(shares.Update(600));  // 1,200 and 1,100
  EXPECT_EQ(shares.Gained(ann), -5000);
  EXPECT_EQ(shares.Gained(bob), 5000);
  EXPECT_EQ(shares.Gained(-1), 0);
  shares.Add(ann, -.5);
  shares.Add(bob, .5);
  EXPECT_TRUE(shares.Update(900));
  EXPECT_EQ(shares.Gained(ann), 0);
  EXPECT_EQ(shares.Next(), 1200);
  shares.Restart();
  EXPECT_EQ(shares.Gained(ann), 0);
  EXPECT_FALSE(shares.Update(86'400 * 30));  // nobody uses anything
  EXPECT_GT(shares.Next(), 86'400 * 33);
}

TEST(SimulatedShares, OfAQueueWithoutFairSharesNeverCome) {
  const auto queue = QueueWithHistory("node n1 a100:4");
  SimulatedShares shares(*queue);
  shares.Restart();
  EXPECT_GE(shares.Next(), kNever);
  shares.Add(0, 1);
  EXPECT_EQ(shares.Gained(0), 0);
}

}  // namespace
}  // namespace gpuadvise
