// Keeps a collector running: starts it, reads its output, and restarts it when it ends, hangs or
// is stopped.
//
// Several candidates (source: auto) are tried in turn until one delivers; that one is kept. Between
// rounds the pause grows from `first_pause` to `longest_pause`; a delivery resets it. A child that
// prints nothing for `silence` is killed with its descendants. On failure the daemon keeps its last
// snapshot and gets the cause as one sentence. It also gets the reasons why earlier candidates
// failed, as long as a later one delivers. Runs on the thread of `io`; the sink reads output on a
// worker.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/process/run_program.h"
#include "daemon/collector/collector_sink.h"

namespace gpuadvise::daemon {

// How gpuadvised starts gpuadvise-collect: in its own process group, which ends with it; killed by
// the kernel when gpuadvised dies; without access to the service manager's socket.
ProgramCall CollectorCall(const Command& command);

// "cannot run /usr/bin/gpuadvise-collect: No such file or directory"
std::string CannotRun(const Command& command, int error);

struct CollectorCandidate {
  std::string name;  // name of the source: "slurm-api"
  Command command;
  bool may_finish = false;  // a recording ends without failure
};

struct CollectorPlan {
  std::vector<CollectorCandidate> candidates;  // in order of preference, at least one
  std::chrono::milliseconds silence = std::chrono::seconds(90);
  std::chrono::milliseconds first_pause = std::chrono::seconds(1);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(60);

  friend bool operator==(const CollectorPlan& a, const CollectorPlan& b);
};

class Collector {
 public:
  using Tell = std::function<void(std::string)>;

  // Calls `on_cause` with the reason why there is no newer snapshot. Calls `on_passed_over`, at the
  // first delivery of a child, with the reasons why earlier candidates failed ("": none).
  // REQUIRES: all outlive the collector.
  Collector(boost::asio::io_context& io, boost::asio::thread_pool& workers, CollectorSink& sink,
            Tell on_cause, Tell on_passed_over);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Starts `plan`, or switches to it after ending the running child.
  void Run(CollectorPlan plan);

  // Asks the child for a snapshot before the next one is due. The child's loop decides how soon
  // (daemon/collect/collect_loop.h); recordings ignore it.
  void PollSoon();

  // Ends the child and starts no more.
  void Stop();

  // Process id of the running child; 0: none.
  pid_t child() const;
  int starts() const { return starts_; }  // children started so far; from any thread

 private:
  struct Child;
  struct End;

  boost::asio::awaitable<void> Supervise();
  boost::asio::awaitable<End> RunOnce(const CollectorCandidate& candidate);
  boost::asio::awaitable<void> ReadOutput(std::shared_ptr<Child> child);
  boost::asio::awaitable<void> AwaitEnd(std::shared_ptr<Child> child);
  boost::asio::awaitable<bool> Pause(const End& end);
  void Heard(Child& child, const CollectorProgress& progress);
  void ResetSilence(const std::shared_ptr<Child>& child);
  void WatchForDeath();
  void Learn(const End& end);
  std::string CauseOfAll() const;

  boost::asio::io_context& io_;
  boost::asio::thread_pool& workers_;
  CollectorSink& sink_;
  const Tell on_cause_;
  const Tell on_passed_over_;
  CollectorPlan plan_;
  boost::asio::signal_set death_;
  boost::asio::steady_timer pause_timer_;
  std::shared_ptr<Child> child_;
  std::vector<std::string> causes_;  // by candidate; "" while it has not failed
  size_t candidate_ = 0;
  std::chrono::milliseconds next_pause_{0};
  std::atomic<int> starts_ = 0;
  bool running_ = false;  // Supervise() is running
  bool changed_ = false;  // a new plan is waiting
  bool stopping_ = false;
};

}  // namespace gpuadvise::daemon
