#include "daemon/shared_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gpuadvise {
namespace {

TEST(SharedWork, DoesEveryPieceOnce) {
  boost::asio::thread_pool pool(4);
  const SharedWork share(pool, 4);
  for (const size_t count : {0, 1, 3, 1000}) {
    std::vector<std::atomic<int>> times(count);
    share(count, [&](size_t i) { ++times[i]; });
    for (const auto& each : times) EXPECT_EQ(each, 1);
  }
  pool.join();
}

TEST(SharedWork, IsDoneBySeveralThreadsAtATime) {
  boost::asio::thread_pool pool(2);
  std::latch both(2);  // would wait for ever on one thread
  SharedWork(pool, 2)(2, [&](size_t) { both.arrive_and_wait(); });
  pool.join();
}

TEST(SharedWork, NeedsNoFreeThread) {
  boost::asio::thread_pool pool(1);
  std::latch freed(1);
  boost::asio::post(pool, [&] { freed.wait(); });
  std::atomic<int> done = 0;
  SharedWork(pool, 8)(100, [&](size_t) { ++done; });
  EXPECT_EQ(done, 100);
  freed.count_down();
  pool.join();  // helpers that come too late find nothing
  EXPECT_EQ(done, 100);
}

TEST(SharedWork, MayBeAskedByAllThreadsOfThePoolAtOnce) {
  boost::asio::thread_pool pool(2);
  const SharedWork share(pool, 2);
  std::atomic<int> done = 0;
  for (int i = 0; i < 50; ++i) {
    boost::asio::post(pool, [&] { share(20, [&](size_t) { ++done; }); });
  }
  pool.join();
  EXPECT_EQ(done, 1000);
}

TEST(SharedWork, ThrowsWhatAPieceThrewOnceTheOthersAreDone) {
  boost::asio::thread_pool pool(2);
  std::atomic<int> done = 0;
  EXPECT_THROW(SharedWork(pool, 2)(10,
                                   [&](size_t i) {
                                     if (i == 3) throw std::runtime_error("no memory");
                                     ++done;
                                   }),
               std::runtime_error);
  EXPECT_EQ(done, 9);
  pool.join();
}

}  // namespace
}  // namespace gpuadvise
