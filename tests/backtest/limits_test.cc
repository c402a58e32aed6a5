// What a shorter limit brings in a day that is played: job by job, and where everybody follows.
#include "backtest/limits.h"

#include <gtest/gtest.h>

#include "backtest/cluster_file.h"
#include "backtest/world.h"
#include "yaml/yaml_file.h"

namespace gpuadvise::backtest {
namespace {

// One node of four GPUs: two are busy for 1,000 s, a job of four waits, one of two comes behind it.
struct Hole {
  Snapshot lab = *ClusterOf(*LoadYamlFile(std::string(TEST_DATA) + "/lab_cluster.yaml"));
  JobLog log = *PlayWorkload(
      "t_s,user,gres,nodes,limit_min,runtime_s,probe\n"
      "0,ann,gpu4090:2,1,60,1000,0\n10,bob,gpu4090:4,1,60,2000,0\n20,cid,gpu4090:2,1,600,300,0\n",
      "made.csv", lab);
};

TEST(WorldWaitsOf, AShorterLimitFitsTheHole) {
  const Hole hole;
  World world(hole.log, hole.lab);
  const auto waits = world.WaitsOf(2, {600 * 60, 30 * 60});
  ASSERT_TRUE(waits[0] && waits[1]);
  EXPECT_NEAR(*waits[0], 2980, 90);
  EXPECT_LE(*waits[1], 60);
}

TEST(FollowEverybody, WhoIsCutComesAgainWithTheOwnLimit) {
  const Hole hole;
  LimitsResult told;
  told.advised.push_back({.job_id = hole.log.jobs[2].id, .own_limit = 36000, .limit = 240});
  const FollowedDay day = FollowEverybody(hole.log, hole.lab, told);
  EXPECT_EQ(day.followers, 1);
  EXPECT_EQ(day.cut, 1);
  EXPECT_LE(day.median, 60);
  EXPECT_GT(day.own_median, 2800);
  EXPECT_EQ(FollowEverybody(hole.log, hole.lab, {}).cut, 0);
}

}  // namespace
}  // namespace gpuadvise::backtest
