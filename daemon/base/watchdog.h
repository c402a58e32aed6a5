// Tells systemd's watchdog that a thread goes on working: the one that runs `io`.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

namespace gpuadvise::daemon {

class Watchdog {
 public:
  // REQUIRES: `io` outlives it.
  explicit Watchdog(boost::asio::io_context& io) : timer_(io) {}

  // From now on until the io context stops; nothing where nobody watches. Call once.
  void Start();

 private:
  void Feed(std::chrono::microseconds interval);

  boost::asio::steady_timer timer_;
};

}  // namespace gpuadvise::daemon
