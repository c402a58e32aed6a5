// Lines to a file descriptor, in large writes, from several threads.
//
// A batch is written under one lock, so that records of another thread cannot fall into it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace gpuadvise {

class LineOutput {
 public:
  explicit LineOutput(int descriptor) : descriptor_(descriptor) {}
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;

  using Sink = std::function<void(std::string_view line)>;

  /// Calls `writer` with a sink for its lines and writes them all. False once nobody reads any
  /// more; then nothing is written.
  bool Write(const std::function<void(const Sink&)>& writer);

 private:
  void WriteOut();

  const int descriptor_;
  std::mutex mutex_;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace gpuadvise
