// A daemon that stands by: what it does while the first one lives, and how it learns that it does
// not, or does again.
//
// While the first lives it asks Slurm nothing and forecasts nothing: it takes a copy of the first's
// history now and then, and sends whoever asks it to the first. After three missed checks it ends,
// and a whole Daemon takes its place, on the same socket, with that copy. That daemon ends when the
// first is back (FirstWatch), and this begins anew by giving back what was seen meanwhile. So each
// change of roles is a fresh start, and nothing of one role is left over in the other.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/base/error.h"
#include "daemon/base/watchdog.h"
#include "daemon/http/http_server.h"
#include "daemon/http/listening.h"
#include "daemon/settings/settings.h"
#include "daemon/standby/follower.h"

namespace gpuadvise::daemon {

// Calls `step` on a thread of its own, at once and then every `interval`, until it says false or
// this goes.
class Ticker {
 public:
  Ticker(std::chrono::milliseconds interval, std::function<bool()> step);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

// Calls `is_back` once, from its own thread, when the first daemon answers again.
class FirstWatch {
 public:
  // REQUIRES: `settings` outlive it.
  FirstWatch(const Settings& settings, std::function<void()> is_back);

 private:
  const Follower follower_;
  const std::function<void()> is_back_;
  Checks checks_;
  std::optional<Ticker> ticker_;  // the last: it uses all above
};

class Standby {
 public:
  // Binds the socket. Errors: as UnixListener::Bind, and where the first's socket is its own.
  static Result<std::unique_ptr<Standby>> Make(const Settings& settings);
  ~Standby();

  enum class End { kStopped, kTakesOver };
  // Until SIGTERM or SIGINT, or the first is gone. Call once.
  End Run();

 private:
  using Moment = std::chrono::steady_clock::time_point;

  Standby(const Settings& settings, UnixListener listener);
  bool Step();  // one check, and what follows from it; false: the first is gone
  void Follow();
  void Say(const std::string& problem);
  void WatchSignals();
  ApiResponse Answer(const ApiRequest& request) const;
  ApiResponse Health() const;

  const Settings settings_;
  Follower follower_;
  Checks checks_;
  boost::asio::io_context io_{1};
  boost::asio::thread_pool answering_{1};
  UnixListener listener_;
  HttpServer server_;
  boost::asio::signal_set signals_;
  Watchdog watchdog_;
  bool owes_nothing_ = false;    // to the first; used by the copier's thread, as the next
  std::optional<Moment> tried_;  // to copy, last

  mutable std::mutex mutex_;  // guards the next four
  std::string problem_;       // "": none
  std::optional<Moment> copied_;
  bool first_answers_ = false;
  End end_ = End::kStopped;

  std::optional<Ticker> ticker_;  // checks; the last two use all above
  std::optional<Ticker> copier_;  // checking a large copy takes longer than a check may
};

}  // namespace gpuadvise::daemon
