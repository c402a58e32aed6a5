#include "client/run/outcome_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

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

Result<void> WriteTo(const std::string& path, const Outcome& outcome) {
  const std::string beside = fmt::format("{}.{}", path, ::getpid());
  // Names from a machine may be no UTF-8: replaced, never a reason to lose the rest.
  const std::string text =
      ToJson(outcome).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file.good() && std::rename(beside.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  std::remove(beside.c_str());
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} cannot be written: {}", path, std::strerror(error)));
}

}  // namespace

Result<void> WriteOutcome(const Outcome& outcome, const std::string& folder) {
  KeepThatOfAnotherJob(outcome, folder);
  return WriteTo(PathIn(folder, kOutcomeFile), outcome);
}

Result<void> LeaveOutcome(const Outcome& outcome, const std::string& folder) {
  const std::string path =
      PathIn(folder, fmt::format("gpuadvise-outcome-{}-{}.json", ::geteuid(), outcome.job_id));
  const Result<void> written = WriteTo(path, outcome);
  if (written) ::chmod(path.c_str(), 0644);  // whatever the umask: it is there to be read
  return written;
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

std::vector<Attempt> EarlierAttempts(const std::string& folder, int64_t job_id) {
  if (job_id == 0) return {};
  Result<Outcome> there = ReadOutcomeFile(PathIn(folder, kOutcomeFile), ::geteuid());
  if (!there || there->job_id != job_id) return {};
  std::vector<Attempt> attempts = std::move(there->attempts);
  if (attempts.size() >= kMostAttempts) {  // the oldest go first
    attempts.erase(attempts.begin(), attempts.end() - static_cast<ptrdiff_t>(kMostAttempts / 2));
  }
  return attempts;
}

}  // namespace gpuadvise
