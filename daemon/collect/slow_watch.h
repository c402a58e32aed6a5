// Tells somebody, again and again, that something takes long, for as long as the object lives.
//
// The callback runs on a thread of its own: first after `period`, then every `period`. The
// destructor waits for a callback that runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gpuadvise {

class SlowWatch {
 public:
  SlowWatch(std::chrono::milliseconds period, std::function<void(std::chrono::seconds)> tell);
  ~SlowWatch();
  SlowWatch(const SlowWatch&) = delete;
  SlowWatch& operator=(const SlowWatch&) = delete;

 private:
  void Run(std::chrono::milliseconds period, const std::function<void(std::chrono::seconds)>& tell);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace gpuadvise
