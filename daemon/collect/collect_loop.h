// The life of a collector: ask the source, print what it says, wait, again.
//
// Prints to a file descriptor (a pipe to the daemon) one batch of records for each answer and an
// error record with the cause whenever there is none. What was left out of an answer is said on
// stderr, once for each story and so often an hour at most. Waits between polls with ±10 % of
// jitter, so that many clusters are not asked in step; longer after errors and slow answers, so
// that a struggling slurmctld is left alone. When one answer takes long, error records say so
// meanwhile. Ends when the reader goes away or, if stdin is a pipe or socket, when that is closed.
// Blocks its thread; the only other thread is the one that watches for slow answers.
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
  bool once = false;  // one batch, no waiting; an error ends with status 1
  int output = 1;     // file descriptors
  int input = 0;
};

// Runs until the end and returns the exit status: 0, or 1 with a sentence on stderr.
int RunCollectLoop(Source& source, const LoopOptions& options);

// How long to wait before the next poll, without jitter. `failures`: errors in a row until now;
// `took`: how long the last answer took.
std::chrono::milliseconds PauseAfter(std::chrono::milliseconds interval, int failures,
                                     std::chrono::milliseconds took);

// What is to be said of the records that were left out: each story once, and so many an hour at
// most, so that nobody who writes them uses up the log, nor keeps it silent for ever.
class LeftOutTeller {
 public:
  static constexpr int kMostStories = 20;  // an hour; one more line says that there are more

  // A line without its newline; "" where there is nothing new to say.
  std::string Tell(const LeftOut& left_out, std::chrono::steady_clock::time_point now);

 private:
  LeftOut told_;
  int stories_ = 0;  // in this hour
  std::optional<std::chrono::steady_clock::time_point> hour_began_;
};

// Lines to a file descriptor, in large writes, from several threads. A batch is written under one
// lock, so that records of another thread cannot fall into it.
class LineOutput {
 public:
  explicit LineOutput(int descriptor) : descriptor_(descriptor) {}
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;

  using Sink = std::function<void(std::string_view line)>;

  // Calls `writer` with a sink for its lines and writes them all. False once nobody reads any
  // more; then nothing is written.
  bool Write(const std::function<void(const Sink&)>& writer);

 private:
  void WriteOut();

  const int descriptor_;
  std::mutex mutex_;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace gpuadvise::collect
