#include "common/models/optimizer_bytes.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

double States(const char* optim, bool half = false) {
  return LookUpOptimizerBytes(optim, half, 4096).states;
}

TEST(OptimizerBytes, AreThoseOfTheNumbersThatEachKeeps) {
  EXPECT_EQ(States("adamw_torch"), 8);
  EXPECT_EQ(States("adamw_torch_fused", true), 4);
  EXPECT_EQ(States("adamw_bnb_8bit"), 2);
  EXPECT_NEAR(States("adamw_torch_4bit"), 1, 0.05);
  EXPECT_EQ(States("lion_32bit"), 4);
  EXPECT_EQ(States("lion_8bit"), 1);
  EXPECT_EQ(States("ademamix"), 12);
  EXPECT_EQ(States("schedule_free_adamw"), 8);
  EXPECT_EQ(States("schedule_free_radam"), 8);
  EXPECT_EQ(States("stable_adamw"), 8);
  EXPECT_EQ(States("sgd"), 0);
  EXPECT_LT(States("adafactor"), 0.1);
}

TEST(OptimizerBytes, OfMuonAreTheMomentumOfMatricesAndAdamOfTables) {
  const OptimizerBytes muon = LookUpOptimizerBytes("muon", false, 4096);
  EXPECT_EQ(muon.states, 4);
  EXPECT_EQ(muon.table_states, 8);
  EXPECT_TRUE(muon.known);
}

TEST(OptimizerBytes, OfLowRankProjectionsShrinkWithTheRankOverTheWidth) {
  EXPECT_LT(States("galore_adamw"), 0.5);
  EXPECT_LT(States("apollo_adamw"), 1);
  EXPECT_EQ(LookUpOptimizerBytes("galore_adamw", false, 4096).table_states, 8);  // not projected
}

TEST(OptimizerBytes, KeepNoGradientsWhereEachIsUsedAtOnce) {
  EXPECT_FALSE(LookUpOptimizerBytes("lomo", false, 0).gradients);
  EXPECT_FALSE(LookUpOptimizerBytes("galore_adamw_layerwise", false, 0).gradients);
  EXPECT_TRUE(LookUpOptimizerBytes("adamw_torch", false, 0).gradients);
}

TEST(OptimizerBytes, OfAnUnknownNameAreAdamsAndSaidToBe) {
  const OptimizerBytes unknown = LookUpOptimizerBytes("sophia", false, 0);
  EXPECT_FALSE(unknown.known);
  EXPECT_EQ(unknown.states, 8);
}

}  // namespace
}  // namespace gpuadvise
