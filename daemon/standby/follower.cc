#include "daemon/standby/follower.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/store/history.h"
#include "daemon/store/history_copy.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// While the first copies a large one; less than three checks take, so that none waits for it.
constexpr std::chrono::milliseconds kCopyPatience{15'000};
constexpr int kAnswerDepth = 20;
constexpr int64_t kMostCopyBytes = int64_t{1} << 40;

// The first's answer as an object, or why it refuses.
Result<json> ReadAnswer(const Result<LinkAnswer>& answer) {
  if (!answer) return tl::unexpected<Error>(answer.error());
  const json::parser_callback_t shallow = [](int depth, json::parse_event_t, json&) {
    return depth < kAnswerDepth;
  };
  json read = json::parse(answer->body, shallow, false);
  if (answer->status == 200 && read.is_object()) return read;
  std::string why = fmt::format("it answers with HTTP status {}", answer->status);
  if (read.is_object() && read.contains("errors") && read["errors"].is_array() &&
      !read["errors"].empty() && read["errors"][0].is_object()) {
    why = read["errors"][0].value("message", why);
  }
  return Fail(ErrorCode::kUnavailable, "the first daemon gives nothing to this standby: " + why);
}

Result<void> Append(const Descriptor& file, const std::string& bytes, const std::string& path) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = write(file.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{}: {}; make room on its disk", path, std::strerror(errno)));
    }
    done += static_cast<size_t>(wrote);
  }
  return {};
}

}  // namespace

Follower::Follower(const Settings& settings)
    : settings_(settings),
      link_(settings.standby.first,
            {settings.relay.ca, settings.relay.certificate, settings.relay.key}) {}

Result<void> Follower::Check() const {
  const Result<json> answer = ReadAnswer(link_.Ask("GET", "/v1/standby", "", kPatience));
  if (!answer) return tl::unexpected<Error>(answer.error());
  if (answer->value("role", "") != "first") {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("what answers at {} is a standby itself; name the first daemon",
                            link_.place()));
  }
  if (!answer->value("ready", false)) {
    return Fail(ErrorCode::kUnavailable, "the first daemon has no data yet");
  }
  return {};
}

Result<void> Follower::CheckShared() const {
  const Result<json> answer = ReadAnswer(link_.Ask("GET", "/v1/standby", "", kPatience));
  if (!answer) return tl::unexpected<Error>(answer.error());
  if (answer->value("history", "") == "server") return {};
  return Fail(ErrorCode::kUnavailable,
              "the first daemon keeps its history in a file and this standby in a server: give "
              "both the same history:");
}

Result<void> Follower::Fetch(const std::string& id, int64_t bytes) const {
  const std::string path = ArrivingCopyPath(settings_.state_dir);
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  int failures = 0;
  for (int64_t offset = 0; offset < bytes;) {
    const auto piece =
        link_.Ask("GET", fmt::format("/v1/standby/copy/{}?offset={}", id, offset), "", kPatience);
    if (!piece || piece->status != 200) {
      if (piece || ++failures > 3) {  // it goes on where it was cut off
        return Fail(ErrorCode::kUnavailable,
                    piece
                        ? fmt::format("the first daemon answers with HTTP status {}", piece->status)
                        : piece.error().message);
      }
      continue;
    }
    const auto got = static_cast<int64_t>(piece->body.size());
    if (got == 0 || got > bytes - offset) {
      return Fail(ErrorCode::kUnavailable, "the first daemon sends another copy than it said");
    }
    if (Result<void> written = Append(file, piece->body, path); !written) return written;
    offset += got;
  }
  return {};
}

Result<int64_t> Follower::TakeCopy() {
  const Result<Descriptor> own = LockHistory(settings_.state_dir);
  if (!own) return tl::unexpected<Error>(own.error());
  const Result<json> made = ReadAnswer(link_.Ask("POST", "/v1/standby/copy", "{}", kCopyPatience));
  if (!made) return tl::unexpected<Error>(made.error());
  const json& id = made->contains("copy") ? (*made)["copy"] : json();
  const json& bytes = made->contains("bytes") ? (*made)["bytes"] : json();
  if (!id.is_string() || !bytes.is_number_integer() || bytes.get<int64_t>() <= 0 ||
      bytes.get<int64_t>() > kMostCopyBytes) {
    return Fail(ErrorCode::kUnavailable, "the first daemon offers no copy");
  }
  const auto size = bytes.get<int64_t>();
  if (Result<void> there = Fetch(id.get<std::string>(), size); !there) {
    std::error_code ignored;  // half a copy must not keep the disk full
    fs::remove(ArrivingCopyPath(settings_.state_dir), ignored);
    return tl::unexpected<Error>(there.error());
  }
  if (Result<void> in_place = InstallCopy(settings_.state_dir, size); !in_place) {
    return tl::unexpected<Error>(in_place.error());
  }
  return size;
}

Result<int64_t> Follower::GiveBack() {
  std::error_code error;
  if (!fs::exists(HistoryPath(settings_.state_dir), error)) return 0;
  HistoryBounds bounds;
  bounds.bytes = settings_.history_max_bytes;
  Result<std::unique_ptr<History>> history =
      History::Open(settings_.state_dir, SystemClock().Now(), bounds);
  if (!history) return tl::unexpected<Error>(history.error());
  const Result<bool> owes = (*history)->OwesRows();
  if (!owes) return tl::unexpected<Error>(owes.error());
  if (!*owes) return 0;
  int64_t given = 0;
  for (ExchangeCursor cursor;;) {
    Result<ExchangedRows> rows = (*history)->RowsToReturn(cursor);
    if (!rows) return tl::unexpected<Error>(rows.error());
    if (rows->rows == 0 && rows->next.jobs_done) break;
    const Result<json> taken =
        ReadAnswer(link_.Ask("POST", "/v1/standby/rows", rows->bytes, kCopyPatience));
    if (!taken) return tl::unexpected<Error>(taken.error());
    given += rows->rows;
    cursor = rows->next;
  }
  if (Result<void> done = (*history)->EndReign(); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return given;
}

}  // namespace gpuadvise::daemon
