// One request's work shared among threads that help with answers.
//
// Problem. An answer is made of some thirty forecasts that do not depend on each other; on one
// thread the caller waits for their sum while other cores idle.
//
// Idea. The thread that answers takes one piece after the other, and as many others as are free
// help; a helper that comes too late finds nothing left. So a busy pool costs nothing, and nobody
// waits for a thread.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>

#include "common/base/for_each.h"

namespace gpuadvise::daemon {

// As ForEach says. `pool` outlives the calls; `threads`: so many work at most, the caller counted.
// Safe from any thread, also from those of the pool.
class ParallelFor {
 public:
  ParallelFor(boost::asio::thread_pool& pool, size_t threads) : pool_(pool), threads_(threads) {}

  void operator()(size_t count, const std::function<void(size_t)>& body) const;

 private:
  boost::asio::thread_pool& pool_;
  size_t threads_;
};

}  // namespace gpuadvise::daemon
