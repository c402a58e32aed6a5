// The main loop of a collector: poll the source, print the answer, wait, repeat.
//
// Prints to a file descriptor (a pipe to the daemon) one batch of records per answer, or an error
// record with the cause if there is none. Reports records left out of an answer on stderr, once per
// message and with a bound per hour. Waits between polls with ±10 % jitter, so that clusters are
// not polled in step, and longer after errors and slow answers, to spare an overloaded slurmctld. A
// line on stdin, if that is a pipe or socket, requests an early poll: at least `soonest` after the
// last one. During a slow answer it prints error records that report the delay. Ends when the
// reader closes the output or, if stdin is a pipe or socket, when stdin is closed. Blocks its
// thread; the only other thread watches for slow answers.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/collect/source.h"

namespace gpuadvise::collect {

struct LoopOptions {
  std::string source_name;  // for messages: "slurm-api"
  std::chrono::milliseconds interval{30'000};
  std::chrono::milliseconds soonest{5'000};  // minimum between requested polls
  bool once = false;                         // one batch, no wait; exit status 1 after an error
  int output = 1;                            // file descriptors
  int input = 0;
};

// Runs to the end and returns the exit status: 0, or 1 with a message on stderr.
int RunCollectLoop(Source& source, const LoopOptions& options);

// Pause before the next poll, without jitter. `failures`: consecutive errors so far; `took`:
// duration of the last answer.
std::chrono::milliseconds PauseAfter(std::chrono::milliseconds interval, int failures,
                                     std::chrono::milliseconds took);

// Limits the messages about left-out records: each one once, and a bounded number per hour, so that
// users who cause them can neither fill the log nor silence it for good.
class LeftOutTeller {
 public:
  static constexpr int kMostStories = 20;  // per hour, plus a line that there are more

  // A line to log, without its newline; "": nothing new.
  std::string Tell(const LeftOut& left_out, std::chrono::steady_clock::time_point now);

 private:
  LeftOut told_;
  int stories_ = 0;  // in this hour
  std::optional<std::chrono::steady_clock::time_point> hour_began_;
};

// Writes lines to a file descriptor in large blocks; safe from several threads. A batch is written
// under one lock, so that no record of another thread interrupts it.
class LineOutput {
 public:
  explicit LineOutput(int descriptor) : descriptor_(descriptor) {}
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;

  using Sink = std::function<void(std::string_view line)>;

  // Calls `writer` with a sink for its lines and writes them all. Returns false, and writes
  // nothing, once the reader is gone.
  bool Write(const std::function<void(const Sink&)>& writer);

 private:
  void WriteOut();

  const int descriptor_;
  std::mutex mutex_;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace gpuadvise::collect
