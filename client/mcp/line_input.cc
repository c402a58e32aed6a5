#include "client/mcp/line_input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace gpuadvise::client {
namespace {

using Clock = std::chrono::steady_clock;

// Whether something can be read, or the end was reached, before the deadline.
bool IsReadable(int descriptor, std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  for (;;) {
    int left = -1;
    if (patience.count() >= 0) {
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      left = static_cast<int>(std::clamp<int64_t>(rest.count(), 0, INT_MAX));
    }
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, left);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return true;  // read() says what it is
  }
}

}  // namespace

InputLine DescriptorInput::TakeLine() {
  const size_t end = bytes_.find('\n', looked_at_);
  if (end == std::string::npos) {
    looked_at_ = bytes_.size();
    if (bytes_.size() > max_line_bytes_) {
      bytes_.clear();
      looked_at_ = 0;
      skipping_ = true;
    }
    return {};
  }
  InputLine line{InputLine::Kind::kLine, bytes_.substr(0, end)};
  bytes_.erase(0, end + 1);
  looked_at_ = 0;
  if (skipping_ || line.text.size() > max_line_bytes_) line = {InputLine::Kind::kTooLong, ""};
  skipping_ = false;
  return line;
}

bool DescriptorInput::ReadMore() {
  char buffer[64 << 10];
  for (;;) {
    const ssize_t count = ::read(descriptor_, buffer, sizeof buffer);
    if (count > 0) {
      bytes_.append(buffer, static_cast<size_t>(count));
      return true;
    }
    if (count == 0 || errno != EINTR) return false;
  }
}

InputLine DescriptorInput::Next(std::chrono::milliseconds patience) {
  for (;;) {
    InputLine line = TakeLine();
    if (line.kind != InputLine::Kind::kNothingYet) return line;
    if (ended_) return {InputLine::Kind::kEnd, ""};
    if (!IsReadable(descriptor_, patience)) return {};
    if (!ReadMore()) {
      ended_ = true;
      if (!bytes_.empty() || skipping_) bytes_ += '\n';
    }
  }
}

}  // namespace gpuadvise::client
