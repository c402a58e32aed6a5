#include "common/memory/memory_constants.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace gpuadvise {
namespace {

TEST(MemoryConstants, StandInTheTableWithinTheirRangeAndWithAReason) {
  std::set<std::string> names;
  for (const auto& constant : MemoryConstantTable()) {
    const double value = kMemoryConstants.*constant.member;
    EXPECT_LE(constant.low, value) << constant.name;
    EXPECT_LE(value, constant.high) << constant.name;
    EXPECT_FALSE(std::string(constant.why).empty()) << constant.name;
    EXPECT_EQ(std::string(constant.rests_on).empty(), !constant.chosen) << constant.name;
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
  }
  EXPECT_EQ(names.size() * sizeof(double), sizeof(MemoryConstants));  // none is left out
}

}  // namespace
}  // namespace gpuadvise
