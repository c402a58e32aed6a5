// Keeps a collector running: starts it, reads what it prints, and starts it again when it ends,
// hangs or is stopped.
//
// Several candidates (source: auto) are tried in turn until one delivers; that one is kept. Between
// rounds the pause grows from `first_pause` to `longest_pause` and is reset by a delivery. A child
// that shows no sign of life for `silence` is killed with all it started. Whatever happens, the
// daemon keeps its last snapshot and learns the cause in one sentence; why the candidates before
// the one that delivers were not taken is told as well, for as long as that one delivers.
// Everything runs on the thread of `io`, output is taken in by the sink on a worker.
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

#include "daemon/collector/collector_sink.h"
#include "process/run_program.h"

namespace gpuadvise::daemon {

// How gpuadvised starts gpuadvise-collect: in a group of its own that ends with it, killed by the
// kernel when gpuadvised dies, and without the service manager's socket, which is gpuadvised's
// alone.
ProgramCall CollectorCall(const Command& command);

// "cannot run /usr/bin/gpuadvise-collect: No such file or directory"
std::string CannotRun(const Command& command, int error);

struct CollectorCandidate {
  std::string name;  // the source's: "slurm-api"
  Command command;
  bool may_finish = false;  // a recording ends; that is no failure
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

  // `on_cause` is told why no newer snapshot comes; `on_passed_over`, when a child delivers for the
  // first time, why the candidates before it were not taken, "" for none.
  // REQUIRES: all outlive the collector.
  Collector(boost::asio::io_context& io, boost::asio::thread_pool& workers, CollectorSink& sink,
            Tell on_cause, Tell on_passed_over);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Begins with `plan`, or goes over to it: a running child is ended first.
  void Run(CollectorPlan plan);

  // Ends the child; nothing is started any more.
  void Stop();

  // The process id of the running child, 0 when there is none.
  pid_t child() const;
  int starts() const { return starts_; }  // so far; from any thread

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
  bool running_ = false;  // Supervise() is on its way
  bool changed_ = false;  // a new plan is waiting
  bool stopping_ = false;
};

}  // namespace gpuadvise::daemon
