// Whose request is answered next: the many of one user do not hold up the one of another, nor the
// expensive the cheap.
//
// Problem. An answer cannot be broken off, and takes from a millisecond to a quarter of a second.
// Taking turns is not enough: three users who ask what is expensive make everybody wait for three
// such answers.
// Idea. Of those who wait comes next who has lately used least CPU time; who has used the same
// takes turns. Of each user only so many requests are answered at once, and the last place is kept
// from those who have used much: whoever seldom asks finds it free. What was used counts half after
// a second, so nobody waits for ever: those who are let past use time too.
//
// Those of one user keep their order. Used on one thread, also a Slot.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

namespace gpuadvise::daemon {

class FairQueue : public std::enable_shared_from_this<FairQueue> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Now = std::function<TimePoint()>;

  // CPU time used lately from which on the last place is for others.
  static constexpr std::chrono::milliseconds kMuch{100};
  static constexpr std::chrono::seconds kHalfLife{1};

  // REQUIRES: both at least 1. `at_once`: of all users together.
  static std::shared_ptr<FairQueue> Make(size_t at_once, size_t of_one_user,
                                         Now now = std::chrono::steady_clock::now) {
    return std::shared_ptr<FairQueue>(new FairQueue(at_once, of_one_user, std::move(now)));
  }

  // One request that is being answered, for as long as this lives.
  class Slot {
   public:
    Slot(std::shared_ptr<FairQueue> turns, int64_t user) : turns_(std::move(turns)), user_(user) {}
    Slot(Slot&&) = default;
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (turns_) turns_->GiveBack(user_);
    }

    // What the answer took.
    void Charge(std::chrono::nanoseconds cpu_time) { turns_->Charge(user_, cpu_time); }

   private:
    std::shared_ptr<FairQueue> turns_;
    int64_t user_;
  };

  // Waits until a request of `user` may be answered: as long as those before it take.
  boost::asio::awaitable<Slot> Take(int64_t user);

 private:
  struct Waiter;
  struct User {
    std::deque<std::weak_ptr<Waiter>> waiters;
    size_t answered = 0;      // now
    double used_seconds = 0;  // lately, as of `counted_at`
    TimePoint counted_at = {};
  };
  using Users = std::unordered_map<int64_t, User>;

  FairQueue(size_t at_once, size_t of_one_user, Now now)
      : at_once_(at_once), of_one_user_(of_one_user), now_(std::move(now)) {}
  void Charge(int64_t user, std::chrono::nanoseconds cpu_time);
  void GiveBack(int64_t user);
  void CallNext();
  bool MayBeCalled(const User& user, double used) const;
  double Decayed(const User& user) const;
  double UsedLately(const User& user) const;
  void Forget();

  const size_t at_once_;
  const size_t of_one_user_;
  const Now now_;
  size_t answered_ = 0;  // now, of all users
  Users users_;
  std::deque<int64_t> next_;  // users who wait, each once
};

}  // namespace gpuadvise::daemon
