#include "daemon/collect/slow_watch.h"

#include <utility>

namespace gpuadvise {

SlowWatch::SlowWatch(std::chrono::milliseconds period,
                     std::function<void(std::chrono::seconds)> tell)
    : thread_([this, period, tell = std::move(tell)] { Run(period, tell); }) {}

SlowWatch::~SlowWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void SlowWatch::Run(std::chrono::milliseconds period,
                    const std::function<void(std::chrono::seconds)>& tell) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, period, [this] { return end_; })) {
    tell(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin));
  }
}

}  // namespace gpuadvise
