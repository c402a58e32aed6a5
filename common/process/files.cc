#include "common/process/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace gpuadvise {
namespace {

tl::unexpected<Error> CannotOpen(int error) {
  if (error == ELOOP) return BadInput("it is a link, which is not followed");
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return Fail(code, fmt::format("it cannot be opened: {}", std::strerror(error)));
}

// Why the file is refused; "" if accepted.
std::string WhyRefused(const struct stat& about, const FileLimits& limits) {
  if (!S_ISREG(about.st_mode)) return "it is not a regular file";
  if (limits.owner && about.st_uid != *limits.owner) return "it belongs to somebody else";
  if (static_cast<uint64_t>(about.st_size) <= limits.max_bytes) return "";
  return fmt::format("it is longer than {} KiB, which no {} is", limits.max_bytes >> 10,
                     limits.kind);
}

using Clock = std::chrono::steady_clock;

// Whether input or end of file is available before the deadline; else false with ETIMEDOUT.
bool HasInput(const Descriptor& file, std::optional<Clock::time_point> deadline) {
  for (;;) {
    int pause = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      pause = static_cast<int>(std::max<int64_t>(0, left.count()));
    }
    pollfd waiting{file.get(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, pause);
    if (ready > 0) return true;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) errno = ETIMEDOUT;
    return false;
  }
}

// Reads to the end, calling `wait` before each read and again after a spurious wake-up (EAGAIN).
template <typename Wait>
tl::expected<std::string, int> ReadWhere(const Descriptor& file, size_t max_bytes, const Wait& wait,
                                         bool again) {
  std::string text;
  std::array<char, 16384> buffer;
  while (text.size() <= max_bytes) {
    if (!wait()) return tl::unexpected<int>(errno);
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || (again && errno == EAGAIN))) continue;
    if (got < 0) return tl::unexpected<int>(errno);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

Result<OpenedFile> OpenRegularFile(const std::string& path, const FileLimits& limits) {
  OpenedFile file;
  file.descriptor =
      Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.descriptor) return CannotOpen(errno);
  if (::fstat(file.descriptor.get(), &file.about) != 0) {
    return Fail(ErrorCode::kUnavailable, "it cannot be read");
  }
  if (const std::string why = WhyRefused(file.about, limits); !why.empty()) return BadInput(why);
  return file;
}

tl::expected<std::string, int> ReadAll(const Descriptor& file, size_t max_bytes) {
  return ReadWhere(
      file, max_bytes, [] { return true; }, false);
}

tl::expected<std::string, int> ReadAllWithin(const Descriptor& file, size_t max_bytes,
                                             std::optional<std::chrono::milliseconds> patience) {
  std::optional<Clock::time_point> deadline;
  if (patience) deadline = Clock::now() + *patience;
  return ReadWhere(
      file, max_bytes, [&] { return HasInput(file, deadline); }, true);
}

bool WriteAll(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(file.get(), text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

Result<void> ReplaceFile(const std::string& path, std::string_view text, mode_t mode) {
  std::string beside = path + ".XXXXXX";
  Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  const bool made = static_cast<bool>(file);
  if (made && WriteAll(file, text) && ::fchmod(file.get(), mode) == 0 && file.Close() &&
      std::rename(beside.c_str(), path.c_str()) == 0) {
    return {};
  }
  const int error = errno;
  if (made) std::remove(beside.c_str());
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} cannot be written: {}", path, std::strerror(error)));
}

}  // namespace gpuadvise
