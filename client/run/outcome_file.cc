#include "client/run/outcome_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>

namespace gpuadvise {
namespace {

using nlohmann::json;

std::string PathIn(const std::string& folder, const std::string& name) {
  return folder + "/" + name;
}

/// Why `file` cannot be somebody's own outcome; "" when it may be.
std::string WhyNot(const struct stat& file, uid_t owner) {
  if (!S_ISREG(file.st_mode)) return "it is no regular file";
  if (file.st_uid != owner) return "it belongs to somebody else";
  if (static_cast<uint64_t>(file.st_size) > kMaxOutcomeBytes) {
    return fmt::format("it is longer than {} KiB, which no outcome is", kMaxOutcomeBytes >> 10);
  }
  return "";
}

Result<std::string> TextOfFile(int file, uid_t owner) {
  struct stat about {};
  if (::fstat(file, &about) != 0) return Fail(ErrorCode::kUnavailable, "it cannot be read");
  if (const std::string why = WhyNot(about, owner); !why.empty()) return BadInput(why);
  std::string text;
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("it cannot be read: {}", std::strerror(errno)));
    }
    if (got == 0 || text.size() > kMaxOutcomeBytes) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

/// An outcome of another job moves aside: it may not have been imported yet.
void KeepThatOfAnotherJob(const Outcome& outcome, const std::string& folder) {
  const std::string path = PathIn(folder, kOutcomeFile);
  const Result<Outcome> there = ReadOutcomeFile(path, ::geteuid());
  if (!there || there->job_id == 0 || there->job_id == outcome.job_id) return;
  const std::string kept = PathIn(folder, fmt::format("gpuadvise-outcome-{}.json", there->job_id));
  if (std::rename(path.c_str(), kept.c_str()) != 0) return;  // then it is replaced
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(file, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

/// Whole or not at all, through a new file of a name that nobody knows before: the folder may be
/// anybody's, and a link in the way is never followed. Readable for all.
Result<void> WriteTo(const std::string& path, const Outcome& outcome) {
  // Names from a machine may be no UTF-8: replaced, never a reason to lose the rest.
  const std::string text =
      ToJson(outcome).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  std::string beside = path + ".XXXXXX";
  const int file = ::mkostemp(beside.data(), O_CLOEXEC);
  bool written = file >= 0 && WriteAll(file, text) && ::fchmod(file, 0644) == 0;
  int error = errno;
  if (file >= 0 && ::close(file) != 0) {
    error = errno;
    written = false;
  }
  if (written && std::rename(beside.c_str(), path.c_str()) == 0) return {};
  if (written) error = errno;
  if (file >= 0) std::remove(beside.c_str());
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} cannot be written: {}", path, std::strerror(error)));
}

}  // namespace

Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder) {
  KeepThatOfAnotherJob(outcome, folder);
  return WriteTo(PathIn(folder, kOutcomeFile), outcome);
}

Result<void> LeaveOutcome(const Outcome& outcome, const std::string& folder) {
  std::random_device random;  // a name that nobody can take before
  const std::string name =
      fmt::format("gpuadvise-outcome-{}-{}-{:08x}.json", ::geteuid(), outcome.job_id, random());
  return WriteTo(PathIn(folder, name), outcome);
}

Result<Outcome> ReadOutcomeFile(const std::string& path, uid_t owner) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    const int error = errno;
    if (error == ELOOP) return BadInput("it is a link, which is not followed");
    const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return Fail(code, fmt::format("it cannot be opened: {}", std::strerror(error)));
  }
  const Result<std::string> text = TextOfFile(file, owner);
  ::close(file);
  if (!text) return tl::unexpected<Error>(text.error());
  return ReadOutcomeText(*text);
}

std::vector<Attempt> EarlierAttempts(const std::string& folder, int64_t job_id, int64_t restarts) {
  if (job_id == 0 || restarts == 0) return {};
  Result<Outcome> there = ReadOutcomeFile(PathIn(folder, kOutcomeFile), ::geteuid());
  if (!there || there->job_id != job_id || there->restarts >= restarts) return {};
  return std::move(there->attempts);
}

}  // namespace gpuadvise
