#include "daemon/collect/line_output.h"

#include <unistd.h>

#include <cerrno>

namespace gpuadvise {
namespace {

constexpr size_t kWriteBytes = 1 << 16;

}  // namespace

bool LineOutput::Write(const std::function<void(const Sink&)>& writer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  writer([this](std::string_view line) {
    buffer_.append(line).push_back('\n');
    if (buffer_.size() >= kWriteBytes) WriteOut();
  });
  WriteOut();
  return !closed_;
}

void LineOutput::WriteOut() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !closed_) {
    const ssize_t n = ::write(descriptor_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      closed_ = true;
    }
  }
  buffer_.clear();
}

}  // namespace gpuadvise
