#include "common/base/statistics.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace gpuadvise {
namespace {

TEST(InterpolatedQuantile, LiesOnAStraightLineBetweenTwoNumbers) {
  const std::vector<int64_t> numbers = {10, 20, 40};
  EXPECT_EQ(InterpolatedQuantile(numbers, 0), 10);
  EXPECT_EQ(InterpolatedQuantile(numbers, 0.25), 15);
  EXPECT_EQ(InterpolatedQuantile(numbers, 0.5), 20);
  EXPECT_EQ(InterpolatedQuantile(numbers, 0.75), 30);
  EXPECT_EQ(InterpolatedQuantile(numbers, 1), 40);
}

TEST(InterpolatedQuantile, BetweenEqualNumbersIsExactlyThem) {
  const std::vector<int64_t> numbers(9, 4711);
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(InterpolatedQuantile(numbers, i / 100.0), 4711);
}

TEST(InterpolatedQuantile, OneNumberIsEveryQuantile) {
  EXPECT_EQ(InterpolatedQuantile(std::vector<double>{2.5}, 0.9), 2.5);
}

TEST(UpperMedian, IsTheUpperOfTheTwoInTheMiddle) {
  EXPECT_EQ(UpperMedian({3, 1, 2}), 2);
  EXPECT_EQ(UpperMedian({4, 1, 3, 2}), 3);
  EXPECT_EQ(UpperMedian({}), 0);
}

TEST(WeightedMedian, CountsEachValueByItsWeight) {
  EXPECT_EQ(WeightedMedian({{1, 1}, {2, 1}, {3, 1}}), 2);
  EXPECT_EQ(WeightedMedian({{3, 9}, {1, 1}, {2, 1}}), 3);
  EXPECT_EQ(WeightedMedian({}), 0);
}

TEST(NormalQuantile, InvertsNormalCdf) {
  for (const double p : {1e-5, 0.01, 0.3, 0.5, 0.9, 0.999}) {
    EXPECT_NEAR(NormalCdf(NormalQuantile(p)), p, 1e-7);
  }
}

}  // namespace
}  // namespace gpuadvise
