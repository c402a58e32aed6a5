#include "common/tips.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

struct World {
  GpuModel gpu;
  GpuPool pool;
  TrainSpec spec;
  std::vector<Strategy> strategies;

  World() {
    gpu.display_name = "Card";
    pool.model = &gpu;
    spec.stages.emplace_back();
    Strategy strategy;
    strategy.placement.pool = &pool;
    strategy.placement.cpus_per_node = 4;
    strategy.run.p50 = 3600;
    strategy.stages.emplace_back();
    strategy.stages[0].batch = {8, 1, 8};
    strategy.stages[0].work = {10000, 80000};
    strategies.push_back(strategy);
  }
  bool Says(const std::string& word) const {
    for (const std::string& tip : TipsFor(spec, strategies)) {
      if (tip.find(word) != std::string::npos) return true;
    }
    return false;
  }
};

TEST(Tips, LoaderWorkersFollowTheCpusOfTheGpu) {
  World world;
  EXPECT_TRUE(world.Says("dataloader_num_workers: 4"));
  world.spec.stages[0].training.dataloader_num_workers = 2;
  EXPECT_FALSE(world.Says("dataloader_num_workers"));
}

TEST(Tips, CompilingPaysOnlyOnLongRuns) {
  World world;
  EXPECT_FALSE(world.Says("torch_compile"));
  world.strategies[0].run.p50 = 5 * 3600;
  EXPECT_TRUE(world.Says("torch_compile"));
  world.spec.stages[0].training.torch_compile = false;
  EXPECT_FALSE(world.Says("torch_compile"));
}

TEST(Tips, CheckpointsAreAddedUp) {
  World world;
  world.spec.output.checkpoint_bytes = 7'000'000'000;
  world.spec.output.save_steps = 2000;
  EXPECT_TRUE(world.Says("5 checkpoints take 35 GB"));
  world.spec.output.keep = 2;
  EXPECT_TRUE(world.Says("2 checkpoints take 14 GB"));
}

TEST(Tips, ASmallMicroBatchPointsAtCheckpointing) {
  World world;
  world.strategies[0].stages[0].batch = {1, 30, 120};
  EXPECT_TRUE(world.Says("gradient_checkpointing"));
}

TEST(Tips, AreAtMostThreeAndNoneWithoutAStrategy) {
  World world;
  world.spec.output.checkpoint_bytes = 7'000'000'000;
  world.spec.output.keep = 1;
  world.strategies[0].run.p50 = 5 * 3600;
  world.strategies[0].stages[0].batch = {1, 30, 120};
  EXPECT_EQ(TipsFor(world.spec, world.strategies).size(), 3u);
  EXPECT_TRUE(TipsFor(world.spec, {}).empty());
}

}  // namespace
}  // namespace gpuadvise
