#include "common/memory/batch_fit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace gpuadvise {
namespace {

constexpr MemoryLine kGr00t{5'000'000'000, 1'200'000'000, 2'000'000'000};  // Isaac-GR00T's guide

GpuModel Card(double memory_gb) {
  GpuModel gpu;
  gpu.memory_gb = memory_gb;
  return gpu;
}

TrainingSpec Range(int64_t low, int64_t high) {
  TrainingSpec training;
  training.effective_batch_size = BatchRange{low, high};
  return training;
}

TEST(LargestMicroBatch, IsTheGuidesFormulaWithoutMargin) {
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(11), 0), 3);
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(12), 0), 4);
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(24), 0), 14);
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(48), 0), 34);
}

TEST(LargestMicroBatch, GivesTheGuidesTableOn24GBWithItsMargins) {
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(24), 2 * kRecommendedMargin), 6);
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(24), kRecommendedMargin), 10);
}

TEST(LargestAtPeakOfOne, IsTheLargestBeforeMemoryGrows) {
  for (const int64_t flat : {1, 2, 5, 8}) {
    const auto bytes = [flat](int64_t batch) {
      return batch <= flat ? 100.0 : 100.0 + static_cast<double>(batch);
    };
    for (const int64_t most : {1, 2, 3, 7, 64}) {
      EXPECT_EQ(LargestAtPeakOfOne(most, bytes), std::min(flat, most));
    }
  }
}

TEST(LargestMicroBatch, IsZeroWhereNothingFits) {
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(7), 0), 0);
  EXPECT_EQ(LargestMicroBatch(kGr00t, Card(4), 0), 0);
}

TEST(LargestMicroBatch, IsZeroWhereTheFloorOfTheLineDoesNotFit) {
  const MemoryLine line{5'000'000'000, 1'000'000'000, 1'000'000'000, 12'000'000'000};
  EXPECT_EQ(LargestMicroBatch(line, Card(12.9), 0), 0);
  EXPECT_EQ(LargestMicroBatch(line, Card(13), 0), 7);  // 5 + 7 + 1
  EXPECT_EQ(LargestMicroBatch(line, Card(14), 0), 8);
  EXPECT_EQ(MemoryOf(line, 1), 13'000'000'000);
  EXPECT_EQ(MemoryOf(line, 7), 13'000'000'000);
  EXPECT_EQ(MemoryOf(line, 8), 14'000'000'000);
}

TEST(PlanBatch, GivesTheGuidesStrategies) {
  Result<BatchPlan> rtx4090 = PlanBatch(Range(120, 144), 4, 10);
  ASSERT_TRUE(rtx4090);
  EXPECT_EQ(rtx4090->micro_batch, 10);
  EXPECT_EQ(rtx4090->accumulation, 3);
  EXPECT_EQ(rtx4090->effective, 120);
  Result<BatchPlan> l40s = PlanBatch(Range(120, 144), 6, 12);
  ASSERT_TRUE(l40s);
  EXPECT_EQ(l40s->micro_batch * 6 * l40s->accumulation, 144);
  Result<BatchPlan> rtx2080 = PlanBatch(Range(120, 144), 4, 5);
  ASSERT_TRUE(rtx2080);
  EXPECT_EQ(rtx2080->accumulation, 6);
}

// Every micro-batch from the largest down, as a person would look for it.
std::optional<int64_t> LargestMicroBatchByTrying(const TrainingSpec& training, int64_t gpus,
                                                 int64_t largest) {
  const BatchRange range = *training.effective_batch_size;
  for (int64_t micro = largest; micro >= 1; --micro) {
    const int64_t first = training.accumulation.value_or(1);
    const int64_t last = training.accumulation.value_or(range.high);
    for (int64_t times = first; times <= last && micro * gpus * times <= range.high; ++times) {
      if (micro * gpus * times >= range.low) return micro;
    }
  }
  return std::nullopt;
}

TEST(PlanBatch, FindsWhatTryingAllFinds) {
  for (int64_t low = 1; low <= 60; ++low) {
    for (const int64_t width : {0, 1, 5}) {
      for (const int64_t gpus : {1, 3, 7}) {
        for (const int64_t accumulation : {0, 1, 4}) {
          TrainingSpec training = Range(low, low + width);
          if (accumulation > 0) training.accumulation = accumulation;
          for (const int64_t largest : {1, 6, 100}) {
            const auto plan = PlanBatch(training, gpus, largest);
            const auto expected = LargestMicroBatchByTrying(training, gpus, largest);
            ASSERT_EQ(plan.has_value(), expected.has_value()) << low << " " << gpus;
            if (plan) {
              ASSERT_EQ(plan->micro_batch, *expected) << low << " " << gpus;
            }
          }
        }
      }
    }
  }
}

TEST(PlanBatch, NamesTheNearestMultiples) {
  Result<BatchPlan> plan = PlanBatch(Range(120, 120), 7, 4);
  ASSERT_FALSE(plan);
  EXPECT_EQ(
      plan.error().message,
      "effective_batch_size 120 is not possible with 7 GPUs; nearest 119 (17 × 7) or 126 (18 × 7)");
}

TEST(PlanBatch, KeepsWhatIsFixed) {
  TrainingSpec training = Range(64, 64);
  training.micro_batch = 4;
  Result<BatchPlan> plan = PlanBatch(training, 4, 10);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->micro_batch, 4);
  EXPECT_EQ(plan->accumulation, 4);
  training.accumulation = 3;
  EXPECT_FALSE(PlanBatch(training, 4, 10));
}

TEST(PlanBatch, RefusesAFixedBatchThatDoesNotFit) {
  TrainingSpec training = Range(64, 64);
  training.micro_batch = 16;
  Result<BatchPlan> plan = PlanBatch(training, 4, 10);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().pointer, "/per_device_train_batch_size");
}

TEST(PlanBatch, WhereMemoryForbidsAFixedAccumulationThatIsSaid) {
  TrainingSpec training = Range(48, 48);
  training.accumulation = 1;
  EXPECT_EQ(PlanBatch(training, 2, 16).error().message,
            "effective_batch_size 48 with gradient_accumulation_steps 1 needs 24 samples at once "
            "on each of 2 GPUs; the largest that fits is 16");
  EXPECT_EQ(PlanBatch(training, 2, 24)->micro_batch, 24);
  training.effective_batch_size = BatchRange{36, 48};
  EXPECT_NE(PlanBatch(training, 2, 16).error().message.find("needs 18 samples"), std::string::npos);
}

TEST(PlanBatch, WithoutRangeTheGlobalBatchGrowsWithTheGpus) {
  TrainingSpec training;
  training.micro_batch = 4;
  training.accumulation = 4;
  EXPECT_EQ(PlanBatch(training, 2, 4)->effective, 32);
  EXPECT_EQ(PlanBatch(training, 4, 4)->effective, 64);
}

// The slow model: all products of micro-batch and accumulation in the range.
std::optional<BatchPlan> BestByTrying(const BatchRange& range, int64_t gpus, int64_t largest) {
  std::optional<BatchPlan> best;
  for (int64_t micro = 1; micro <= largest; ++micro) {
    for (int64_t accumulation = 1; accumulation <= range.high; ++accumulation) {
      int64_t effective = micro * gpus * accumulation;
      if (effective < range.low || effective > range.high) continue;
      bool better = !best || micro > best->micro_batch ||
                    (micro == best->micro_batch && accumulation < best->accumulation);
      if (better) best = BatchPlan{micro, accumulation, effective};
    }
  }
  return best;
}

RC_GTEST_PROP(PlanBatch, AgreesWithTryingEveryProduct, ()) {
  const auto low = *rc::gen::inRange<int64_t>(1, 200);
  const auto high = *rc::gen::inRange<int64_t>(low, low + 50);
  const auto gpus = *rc::gen::inRange<int64_t>(1, 20);
  const auto largest = *rc::gen::inRange<int64_t>(1, 40);
  Result<BatchPlan> plan = PlanBatch(Range(low, high), gpus, largest);
  std::optional<BatchPlan> expected = BestByTrying({low, high}, gpus, largest);
  RC_ASSERT(plan.has_value() == expected.has_value());
  if (expected) {
    RC_ASSERT(plan->micro_batch == expected->micro_batch);
    RC_ASSERT(plan->accumulation == expected->accumulation);
    RC_ASSERT(plan->effective == plan->micro_batch * gpus * plan->accumulation);
  }
}

}  // namespace
}  // namespace gpuadvise
