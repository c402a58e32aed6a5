#include "daemon/state/advice_store.h"

#include <gtest/gtest.h>

namespace gpuadvise::daemon {
namespace {

AdviceStore::Given Answered(std::string text) { return {"", "", {std::move(text)}}; }

TEST(AdviceStore, GivesAdviceBackToWhomItWasGiven) {
  AdviceStore store("x");
  const std::string id = store.Add(1000, Answered("answer"));
  EXPECT_EQ(store.Find(id, 1000)->strategies[0], "answer");
  EXPECT_FALSE(store.Find(id, 1001));
  EXPECT_FALSE(store.Find("a-x-2", 1000));
}

TEST(AdviceStore, IdsOfAnotherRunMeanNothing) {
  AdviceStore before("old");
  AdviceStore after("new");
  const std::string id = before.Add(1000, Answered("answer"));
  after.Add(1000, Answered("other"));
  EXPECT_FALSE(after.Find(id, 1000));
}

TEST(AdviceStore, ForgetsTheOldestBeyondItsNumber) {
  AdviceStore store("x");
  const std::string first = store.Add(1, Answered("first"));
  const std::string second = store.Add(2, Answered("other"));
  for (size_t i = 2; i <= AdviceStore::kMaxAdvice; ++i) {
    store.Add(static_cast<int64_t>(i) + 1, Answered("other"));
  }
  EXPECT_FALSE(store.Find(first, 1));
  EXPECT_TRUE(store.Find(second, 2));
}

TEST(AdviceStore, OneWhoAsksAgainAndAgainLosesHisOwnAndNobodyElses) {
  for (const size_t bytes : {size_t{10}, size_t{1} << 20}) {
    AdviceStore store("x");
    const std::string other = store.Add(2, Answered("other"));
    const std::string first = store.Add(1, Answered(std::string(bytes, 'a')));
    std::string last;
    for (size_t i = 0; i <= AdviceStore::kMaxAdvice; ++i) {
      last = store.Add(1, Answered(std::string(bytes, 'a')));
    }
    EXPECT_FALSE(store.Find(first, 1));
    EXPECT_TRUE(store.Find(last, 1));
    EXPECT_TRUE(store.Find(other, 2));
  }
}

TEST(AdviceStore, ForgetsTheOldestBeyondItsBytes) {
  constexpr size_t kNearlyHalf = AdviceStore::kMaxBytes / 2 - 4096;  // and what keeps it
  AdviceStore store("x");
  const std::string first = store.Add(1, Answered(std::string(kNearlyHalf, 'a')));
  const std::string second = store.Add(1, Answered(std::string(kNearlyHalf, 'b')));
  EXPECT_TRUE(store.Find(first, 1));
  store.Add(1, Answered(std::string(16'384, 'c')));
  EXPECT_FALSE(store.Find(first, 1));
  EXPECT_TRUE(store.Find(second, 1));
}

TEST(AdviceStore, KeepsTheNewestHoweverLargeItIs) {
  AdviceStore store("x");
  const std::string id = store.Add(1, Answered(std::string(AdviceStore::kMaxBytes + 1, 'a')));
  EXPECT_TRUE(store.Find(id, 1));
}

}  // namespace
}  // namespace gpuadvise::daemon
