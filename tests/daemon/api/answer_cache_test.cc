#include "daemon/api/answer_cache.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

std::shared_ptr<const DaemonState> AState() {
  auto state = std::make_shared<DaemonState>();
  state->snapshot = std::make_shared<const Snapshot>(SnapshotOf("node n1 l40s:4\n"));
  return state;
}

class AnswerCacheTest : public testing::Test {
 protected:
  json Ask(const std::string& request, int64_t age = 0) {
    const auto text = cache_.Get(state_, {age, {}}, request, [&] {
      ++made_;
      return json{{"made", made_}};
    });
    return json::parse(*text->text);
  }

  AnswerCache cache_;
  std::shared_ptr<const DaemonState> state_ = AState();
  int made_ = 0;
};

TEST_F(AnswerCacheTest, AnAnswerIsMadeOnceForEachRequestAndView) {
  EXPECT_EQ(Ask("/v1/gpus")["made"], 1);
  EXPECT_EQ(Ask("/v1/gpus")["made"], 1);
  EXPECT_EQ(Ask("/v1/queue")["made"], 2);
  state_ = AState();
  EXPECT_EQ(Ask("/v1/gpus")["made"], 3);
}

TEST_F(AnswerCacheTest, TheFrameGrowsOlderAroundTheSameAnswer) {
  EXPECT_EQ(Ask("/v1/gpus", 1)["snapshot_age_seconds"], 1);
  const json later = Ask("/v1/gpus", 9);
  EXPECT_EQ(later["snapshot_age_seconds"], 9);
  EXPECT_EQ(later["made"], 1);
  EXPECT_TRUE(later["errors"].is_array());
}

TEST_F(AnswerCacheTest, AskersOfOneSecondShareTheBytes) {
  const auto make = [] { return json{{"x", 1}}; };
  EXPECT_EQ(cache_.Get(state_, {3, {}}, "/a", make)->text,
            cache_.Get(state_, {3, {}}, "/a", make)->text);
}

TEST_F(AnswerCacheTest, TheTagIsThatOfTheAnswerAndNotOfItsFrame) {
  const auto tag = [&](const char* request, int64_t age, int x) {
    return cache_.Get(state_, {age, {}}, request, [x] { return json{{"x", x}}; })->tag;
  };
  EXPECT_EQ(tag("/a", 3, 1), tag("/a", 33, 1));
  EXPECT_EQ(tag("/a", 3, 1), tag("/same", 3, 1));
  EXPECT_NE(tag("/a", 3, 1), tag("/b", 3, 2));
}

TEST_F(AnswerCacheTest, ErrorsAreNotKept) {
  const auto failed = cache_.Get(state_, {}, "/a", [] { return Result<json>(BadInput("no")); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(Ask("/a")["made"], 1);
}

TEST_F(AnswerCacheTest, WhatNobodyAsksForMakesRoom) {
  const std::string large(AnswerCache::kMostBytes / 4, 'x');
  const auto ask = [&](const std::string& request) {
    ASSERT_TRUE(cache_.Get(state_, {}, request, [&] {
      ++made_;
      return json{{"large", large}};
    }));
  };
  for (const char* request : {"/asked", "/b", "/c", "/asked", "/d", "/e", "/asked"}) ask(request);
  EXPECT_EQ(made_, 5);
  ask("/b");
  EXPECT_EQ(made_, 6);
  ask("/asked");
  EXPECT_EQ(made_, 6);
}

TEST_F(AnswerCacheTest, RequestsTakeTheirRoomToo) {
  Ask("/first");
  const std::string large(15'000, 'x');
  for (int i = 0; i < 1200; ++i) Ask("/" + std::to_string(i) + large);  // 18 MB of requests
  const int before = made_;
  Ask("/first");
  EXPECT_EQ(made_, before + 1);
}

TEST_F(AnswerCacheTest, SoManyAnswersAreKeptAndNoMore) {
  for (size_t i = 0; i <= AnswerCache::kMostAnswers; ++i) Ask("/" + std::to_string(i));
  const int before = made_;
  Ask("/1");
  EXPECT_EQ(made_, before);
  Ask("/0");
  EXPECT_EQ(made_, before + 1);
}

TEST_F(AnswerCacheTest, SoManyFilesAreOnTheirWayAndNoMore) {
  std::vector<std::shared_ptr<const void>> held;
  for (size_t i = 0; i < AnswerCache::kMostFiles; ++i) {
    held.push_back(cache_.TakeFile());
    ASSERT_NE(held.back(), nullptr);
  }
  EXPECT_EQ(cache_.TakeFile(), nullptr);
  held.pop_back();
  EXPECT_NE(cache_.TakeFile(), nullptr);
}

TEST_F(AnswerCacheTest, JunkDoesNotEndSharing) {
  Ask("/v1/waits");
  for (int i = 0; i < 1000; ++i) Ask("/v1/waits?junk=" + std::to_string(i));
  const int before = made_;
  Ask("/v1/waits");
  EXPECT_EQ(made_, before);
}

TEST_F(AnswerCacheTest, WhoComesWhileAnAnswerIsMadeWaitsForIt) {
  std::vector<std::thread> askers;
  std::atomic<int> made{0};
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&] {
      const auto text = cache_.Get(state_, {}, "/slow", [&] {
        ++made;
        return json{{"x", 1}};
      });
      EXPECT_TRUE(text);
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace gpuadvise::daemon
