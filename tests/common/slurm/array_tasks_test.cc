#include "common/slurm/array_tasks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace gpuadvise {
namespace {

using Numbers = std::vector<int64_t>;

TEST(ParseArrayTasks, ReadsWhatSbatchTakes) {
  EXPECT_EQ(ParseArrayTasks("7")->numbers, Numbers({7}));
  EXPECT_EQ(ParseArrayTasks("1-4%2")->numbers, Numbers({1, 2, 3, 4}));
  EXPECT_EQ(ParseArrayTasks("1-4%2")->throttle, 2);
  EXPECT_EQ(ParseArrayTasks("0-10:4,3")->numbers, Numbers({0, 3, 4, 8}));
  EXPECT_EQ(ParseArrayTasks("1-3,2-4,3")->numbers, Numbers({1, 2, 3, 4}));  // each once
}

TEST(ParseArrayTasks, RefusesEverythingElse) {
  for (const char* text : {"", "a", "4-1", "1-", "-3", "1-4:0", "1-4%x", "1-9999999", "1,,2",
                           "1-4000000,1-4000000", "99999999999999999999"}) {
    EXPECT_FALSE(ParseArrayTasks(text)) << text;
  }
}

TEST(ParseArrayTasks, SaysHowManyAreTooMany) {
  EXPECT_EQ(ParseArrayTasks("1-1000000", 100'000).error().message,
            "\"1-1000000\" has more than 100000 tasks: ask for fewer at a time");
  EXPECT_TRUE(ParseArrayTasks("1-100000", 100'000));
}

TEST(ArrayTasks, SlicesAreShort) {
  const ArrayTasks tasks = *ParseArrayTasks("1-80");
  EXPECT_EQ(tasks.Slice(0, 34, 6), "1-34%6");
  EXPECT_EQ(tasks.Slice(34, 46, 0), "35-80");
  EXPECT_EQ(tasks.Slice(79, 1, 0), "80");
  EXPECT_EQ(ParseArrayTasks("0-30:2,33")->Slice(0, 17, 0), "0-30:2,33");
  EXPECT_EQ(ParseArrayTasks("1,5")->Slice(0, 2, 0), "1,5");
}

TEST(ArrayTasks, RangesHaveNoSteps) {
  EXPECT_EQ(ParseArrayTasks("0-6:2,7,9-12")->Ranges(), "0,2,4,6-7,9-12");
  EXPECT_EQ(ParseArrayTasks("5")->Ranges(), "5");
}

RC_GTEST_PROP(ArrayTasks, PartsAreTogetherTheWhole, ()) {
  const auto set =
      *rc::gen::nonEmpty(rc::gen::container<std::set<int64_t>>(rc::gen::inRange<int64_t>(0, 300)));
  const ArrayTasks tasks{{set.begin(), set.end()}, 0};
  const auto cut = *rc::gen::inRange<size_t>(0, set.size());
  Numbers both;
  if (cut > 0) both = ParseArrayTasks(tasks.Slice(0, cut, 0))->numbers;
  const Numbers rest = ParseArrayTasks(tasks.Slice(cut, set.size() - cut, 3))->numbers;
  both.insert(both.end(), rest.begin(), rest.end());
  RC_ASSERT(both == tasks.numbers);
}

}  // namespace
}  // namespace gpuadvise
