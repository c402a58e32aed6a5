#include "daemon/http/fair_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gpuadvise::daemon {
namespace {

namespace asio = boost::asio;

// One that was called: whose, and which of theirs.
using RequestContext = std::pair<int64_t, int>;

// Requests wait for their turn, and have it until they are ended.
class Crowd {
 public:
  Crowd(size_t at_once, size_t of_one_user)
      : turns_(FairQueue::Make(at_once, of_one_user, [this] { return now_; })) {}

  void Ask(int64_t user) {
    asio::co_spawn(io_, Wait({user, asked_[user]++}), asio::detached);
    Go();
  }

  // `cpu_time`: that its answer took.
  void End(const RequestContext& call, std::chrono::milliseconds cpu_time = {}) {
    answered_.at(call).Charge(cpu_time);
    answered_.erase(call);
    Go();
  }

  void Pass(std::chrono::milliseconds time) { now_ += time; }

  const std::map<RequestContext, FairQueue::Slot>& answered() const { return answered_; }
  const std::vector<RequestContext>& calls() const { return calls_; }

 private:
  asio::awaitable<void> Wait(RequestContext call) {
    FairQueue::Slot turn = co_await turns_->Take(call.first);
    calls_.push_back(call);
    answered_.emplace(call, std::move(turn));
  }

  void Go() {
    io_.restart();
    io_.poll();
  }

  FairQueue::TimePoint now_{};
  asio::io_context io_;
  std::shared_ptr<FairQueue> turns_;
  std::map<int64_t, int> asked_;
  std::map<RequestContext, FairQueue::Slot> answered_;
  std::vector<RequestContext> calls_;
};

using std::chrono::milliseconds;
using Calls = std::vector<RequestContext>;

TEST(FairQueue, TheOneOfAnotherComesBeforeTheManyOfOne) {
  Crowd crowd(1, 1);
  for (int i = 0; i < 4; ++i) crowd.Ask(7);
  crowd.Ask(8);
  for (const RequestContext& call : Calls{{7, 0}, {7, 1}, {8, 0}, {7, 2}, {7, 3}}) {
    EXPECT_EQ(crowd.calls().back(), call);
    crowd.End(call);
  }
  EXPECT_EQ(crowd.calls().size(), 5u);
}

TEST(FairQueue, NewCallersWithoutEndGoBeforeNobodyForEver) {
  Crowd crowd(1, 1);
  crowd.Ask(7);
  crowd.End({7, 0}, milliseconds(200));
  int64_t stranger = 100;
  crowd.Ask(stranger);
  crowd.Ask(7);
  for (int seconds = 0; crowd.calls().back() != RequestContext{7, 1}; ++seconds) {
    ASSERT_LT(seconds, 15);
    crowd.Ask(stranger + 1);  // another, who has had nothing
    crowd.Pass(milliseconds(1'000));
    crowd.End(crowd.calls().back(), milliseconds(10));
    ++stranger;
  }
}

TEST(FairQueue, OfOneUserOnlySoManyAreAnsweredThoughThereIsRoom) {
  Crowd crowd(3, 2);
  for (int i = 0; i < 4; ++i) crowd.Ask(7);
  EXPECT_EQ(crowd.calls(), (Calls{{7, 0}, {7, 1}}));
  crowd.Ask(8);
  crowd.Ask(9);
  EXPECT_EQ(crowd.calls(), (Calls{{7, 0}, {7, 1}, {8, 0}}));
  crowd.End({7, 1});
  EXPECT_EQ(crowd.calls().back(), (RequestContext{7, 2})) << "came first";
  crowd.End({8, 0});
  EXPECT_EQ(crowd.calls().back(), (RequestContext{9, 0}));
}

TEST(FairQueue, WhoHasUsedLeastComesNext) {
  Crowd crowd(1, 1);
  for (const int64_t user : {7, 8, 7, 8}) crowd.Ask(user);
  crowd.End({7, 0}, milliseconds(50));
  crowd.End({8, 0}, milliseconds(5));
  EXPECT_EQ(crowd.calls().back(), (RequestContext{8, 1})) << "though 7 has waited longer";
  crowd.Ask(9);
  crowd.End({8, 1}, milliseconds(5));
  EXPECT_EQ(crowd.calls().back(), (RequestContext{9, 0})) << "has used nothing";
}

TEST(FairQueue, WhatWasUsedIsForgottenInTime) {
  Crowd crowd(1, 1);
  crowd.Ask(7);
  crowd.End({7, 0}, milliseconds(800));
  crowd.Pass(std::chrono::seconds(5));  // 25 ms are left
  crowd.Ask(6);
  crowd.Ask(8);
  crowd.End({6, 0}, milliseconds(0));
  crowd.End({8, 0}, milliseconds(50));
  crowd.Ask(6);
  crowd.Ask(8);
  crowd.Ask(7);
  crowd.End({6, 1});
  EXPECT_EQ(crowd.calls().back(), (RequestContext{7, 1}));
}

TEST(FairQueue, TheLastPlaceIsFreeForThoseWhoSeldomAsk) {
  Crowd crowd(2, 1);
  for (const int64_t user : {7, 8}) {
    crowd.Ask(user);
    crowd.End({user, 0}, milliseconds(250));
  }
  crowd.Ask(7);
  crowd.Ask(8);
  EXPECT_EQ(crowd.answered().size(), 1u);
  crowd.Ask(9);
  EXPECT_EQ(crowd.calls().back(), (RequestContext{9, 0}));
  crowd.End({9, 0}, milliseconds(2));
  EXPECT_EQ(crowd.answered().size(), 1u) << "the place is kept";
  crowd.Pass(std::chrono::seconds(2));
  crowd.Ask(9);
  EXPECT_EQ(crowd.answered().size(), 2u);
}

TEST(FairQueue, WhoGoesWhileWaitingIsPassedOver) {
  const auto turns = FairQueue::Make(1, 1);
  asio::io_context io;
  const auto wait = [&](std::unique_ptr<FairQueue::Slot>& turn) -> asio::awaitable<void> {
    FairQueue::Slot own = co_await turns->Take(7);
    turn = std::make_unique<FairQueue::Slot>(std::move(own));
  };
  std::unique_ptr<FairQueue::Slot> first;
  std::unique_ptr<FairQueue::Slot> second;
  asio::co_spawn(io, wait(first), asio::detached);
  {
    std::unique_ptr<FairQueue::Slot> never;
    asio::io_context gone;
    asio::co_spawn(gone, wait(never), asio::detached);
    io.poll();
    gone.poll();
  }
  asio::co_spawn(io, wait(second), asio::detached);
  io.restart();
  io.poll();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  first.reset();
  io.restart();
  io.poll();
  EXPECT_TRUE(second);
}

RC_GTEST_PROP(FairQueue, AreWithinTheLimitsInOrderAndNeverWasted, ()) {
  const auto at_once = *rc::gen::inRange<size_t>(1, 5);
  const auto of_one = *rc::gen::inRange<size_t>(1, 4);
  Crowd crowd(at_once, of_one);
  std::map<int64_t, int> asked;
  for (int step = 0; step < 60; ++step) {
    if (crowd.answered().empty() || *rc::gen::inRange(0, 3) > 0) {
      const auto user = *rc::gen::inRange<int64_t>(0, 4);
      ++asked[user];
      crowd.Ask(user);
    } else {
      const auto which = *rc::gen::inRange<size_t>(0, crowd.answered().size());
      crowd.End(std::next(crowd.answered().begin(), static_cast<std::ptrdiff_t>(which))->first);
    }
    std::map<int64_t, size_t> now;
    for (const auto& [call, turn] : crowd.answered()) ++now[call.first];
    std::map<int64_t, int> called;
    for (const auto& [user, number] : crowd.calls()) RC_ASSERT(number == called[user]++);
    RC_ASSERT(crowd.answered().size() <= at_once);
    for (const auto& [user, count] : asked) {
      RC_ASSERT(now[user] <= of_one);
      const bool waits = called[user] < count;
      RC_ASSERT(!waits || now[user] == of_one || crowd.answered().size() == at_once);
    }
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
