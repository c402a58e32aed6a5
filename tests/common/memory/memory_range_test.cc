#include "common/memory/memory_range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/memory/measured_memory.h"

namespace gpuadvise {
namespace {

TEST(MemoryRange, IsWiderWhereLessIsKnown) {
  TrainingSetup lora;
  lora.method = Method::kLora;
  TrainingSetup offloaded;
  offloaded.zero_stage = 3;
  offloaded.offload = Offload::kAll;
  const MemoryRange narrow = RangeOfPeak(100, 0, lora, false);
  const MemoryRange wide = RangeOfPeak(100, 0, offloaded, false);
  EXPECT_LT(narrow.low, 100);
  EXPECT_GT(narrow.high, 100);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
  EXPECT_LE(RangeOfPeak(100, 0, offloaded, true).high, narrow.high);  // measured
}

TEST(MemoryRange, ContainsTheUpperBoundOfVaryingLengths) {
  EXPECT_EQ(RangeOfPeak(100, 250, TrainingSetup(), false).high, 250);
}

TEST(SafetyMargin, LetsAPeakOf95PercentFitWithFivePercentToSpare) {
  const TrainingSetup setup;
  const double filled = 1 - SafetyMargin(setup, false);
  const double p95 = std::exp(1.6449 * MemoryDeviation(setup, false));
  EXPECT_NEAR(filled * p95 * 1.05, 1, 1e-9);
  EXPECT_LT(SafetyMargin(setup, true), SafetyMargin(setup, false));
}

TEST(HasOwnPeak, IgnoresWhatOthersReport) {
  TrainingSpec training;
  MeasuredStep step;
  step.peak_bytes = 20'000'000'000;
  step.by_others = true;
  training.measured = {step};
  EXPECT_FALSE(HasOwnPeak(training));
  training.measured[0].by_others = false;
  EXPECT_TRUE(HasOwnPeak(training));
  training.measured[0].out_of_memory = true;
  EXPECT_FALSE(HasOwnPeak(training));
}

TEST(ConservativeMargin, IsTwiceTheMarginAndAtMostHalf) {
  EXPECT_DOUBLE_EQ(ConservativeMargin(0.15), 0.3);
  EXPECT_DOUBLE_EQ(ConservativeMargin(0.37), 0.5);
}

}  // namespace
}  // namespace gpuadvise
