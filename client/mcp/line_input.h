// Lines from a descriptor, each bounded: one that is too long is skipped, not kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace gpuadvise::client {

struct InputLine {
  enum class Kind { kLine, kTooLong, kNothingYet, kEnd };

  Kind kind = Kind::kNothingYet;
  std::string text;  // kLine: without its end
};

// Where messages come from; the seam that tests put lines in.
class MessageInput {
 public:
  virtual ~MessageInput() = default;
  // The next line; waits for it at most so long (negative: for ever). kEnd stays.
  virtual InputLine Next(std::chrono::milliseconds patience) = 0;
};

// Reads `descriptor`, which stays the caller's. A last line without an end counts as one.
class DescriptorInput : public MessageInput {
 public:
  DescriptorInput(int descriptor, size_t max_line_bytes)
      : descriptor_(descriptor), max_line_bytes_(max_line_bytes) {}
  InputLine Next(std::chrono::milliseconds patience) override;

 private:
  // The line at the front of what was read; kNothingYet where none is whole.
  InputLine TakeLine();
  // Reads once. False at the end.
  bool ReadMore();

  int descriptor_;
  size_t max_line_bytes_;
  std::string bytes_;
  size_t looked_at_ = 0;   // of bytes_: no line ends before
  bool skipping_ = false;  // the front of a line that is too long was dropped
  bool ended_ = false;
};

}  // namespace gpuadvise::client
