#include "daemon/http/fair_queue.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>

namespace gpuadvise::daemon {

namespace asio = boost::asio;

// Lives in the coroutine that waits; gone with it.
struct FairQueue::Waiter {
  asio::steady_timer bell;
  bool called = false;
};

asio::awaitable<FairQueue::Slot> FairQueue::Take(int64_t user) {
  const auto self = shared_from_this();
  const auto executor = co_await asio::this_coro::executor;
  const auto waiter = std::make_shared<Waiter>(
      Waiter{asio::steady_timer(executor, asio::steady_timer::time_point::max())});
  std::deque<std::weak_ptr<Waiter>>& waiters = users_[user].waiters;
  if (waiters.empty()) next_.push_back(user);
  waiters.push_back(waiter);
  CallNext();
  while (!waiter->called) {
    boost::system::error_code rung;
    co_await waiter->bell.async_wait(asio::redirect_error(asio::use_awaitable, rung));
  }
  co_return Slot(self, user);
}

double FairQueue::Decayed(const User& user) const {
  const std::chrono::duration<double> since = now_() - user.counted_at;
  return user.used_seconds * std::exp2(-since / std::chrono::duration<double>(kHalfLife));
}

// What is next to nothing is nothing: a stream of new callers does not go before one for ever who
// has had an answer.
double FairQueue::UsedLately(const User& user) const {
  constexpr double kNothing = 0.001;
  const double used = Decayed(user);
  return used < kNothing ? 0 : used;
}

void FairQueue::Charge(int64_t user, std::chrono::nanoseconds cpu_time) {
  User& charged = users_[user];
  charged.used_seconds = Decayed(charged) + std::chrono::duration<double>(cpu_time).count();
  charged.counted_at = now_();
}

void FairQueue::GiveBack(int64_t user) {
  --answered_;
  --users_[user].answered;
  CallNext();
  Forget();
}

bool FairQueue::MayBeCalled(const User& user, double used) const {
  if (user.answered >= of_one_user_) return false;
  const bool is_last = at_once_ > 1 && answered_ + 1 == at_once_;
  return !is_last || used < std::chrono::duration<double>(kMuch).count();
}

void FairQueue::CallNext() {
  while (answered_ < at_once_) {
    auto best = next_.end();
    double least = 0;
    for (auto each = next_.begin(); each != next_.end(); ++each) {
      const User& user = users_[*each];
      const double used = UsedLately(user);
      if (!MayBeCalled(user, used) || (best != next_.end() && used >= least)) continue;
      best = each;
      least = used;
    }
    if (best == next_.end()) return;
    const int64_t number = *best;
    next_.erase(best);
    User& user = users_[number];
    const std::shared_ptr<Waiter> waiter = user.waiters.front().lock();
    user.waiters.pop_front();
    if (!user.waiters.empty()) next_.push_back(number);
    if (!waiter) continue;  // gone while it waited
    ++user.answered;
    ++answered_;
    waiter->called = true;
    waiter->bell.cancel();
  }
}

// Those of whom nothing is left to be known.
void FairQueue::Forget() {
  std::erase_if(users_, [&](const auto& each) {
    const User& user = each.second;
    return user.waiters.empty() && user.answered == 0 && UsedLately(user) == 0;
  });
}

}  // namespace gpuadvise::daemon
