#include "daemon/api/standby_api.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "common/base/words.h"
#include "daemon/api/requests.h"
#include "daemon/store/history_copy.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// Why this caller gets nothing of a standby's; nullopt: it does.
std::optional<ApiResponse> RefuseOthers(const RequestContext& call) {
  const int64_t uid = call.peer.uid;
  const bool may = uid == 0 || uid == static_cast<int64_t>(::geteuid());
  if (may && !call.peer.is_remote) return std::nullopt;
  return Refuse(call,
                {ErrorCode::kNotFound,
                 "this is for a standby, which runs as root or as the daemon's own user", ""});
}

std::optional<int64_t> OffsetOf(std::string_view target) {
  const std::string text = ParseQuery(target)["offset"];
  int64_t offset = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, offset);
  if (text.empty() || code != std::errc() || stop != end || offset < 0) return std::nullopt;
  return offset;
}

ApiResponse NoCopies(const RequestContext& call) {
  return Refuse(call,
                {ErrorCode::kUnavailable,
                 "its history is in a PostgreSQL server: give the standby the same history:", ""});
}

std::string NewCopyId() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

ApiResponse GetStandby(RequestContext& call) {
  if (auto refusal = RefuseOthers(call)) return std::move(*refusal);
  return Reply(call, {{"boot", call.api.boot},
                      {"role", call.api.stands_in_for.empty() ? "first" : "standing_in"},
                      {"ready", call.state != nullptr},
                      {"history", call.api.copies == nullptr ? "server" : "file"},
                      {"keeps_history", call.api.history.state().info.has_value()}});
}

ApiResponse PostStandbyCopy(RequestContext& call) {
  if (auto refusal = RefuseOthers(call)) return std::move(*refusal);
  if (call.api.copies == nullptr) return NoCopies(call);
  if (!call.api.history.state().info) {
    return Refuse(call, {ErrorCode::kUnavailable, "this daemon keeps no history to copy", ""});
  }
  const Result<HistoryCopy> copy = call.api.copies->Make(NewCopyId());
  if (!copy) return Refuse(call, copy.error());
  return Reply(call, {{"copy", copy->id}, {"bytes", copy->bytes}});
}

ApiResponse GetStandbyCopy(RequestContext& call) {
  if (auto refusal = RefuseOthers(call)) return std::move(*refusal);
  const std::optional<int64_t> offset = OffsetOf(call.request.target);
  if (!offset) {
    return Refuse(call, {ErrorCode::kBadInput, "offset is missing, or no number of bytes", ""});
  }
  if (call.api.copies == nullptr) return NoCopies(call);
  Result<std::string> piece = call.api.copies->Read(call.id, *offset);
  if (!piece) return Refuse(call, piece.error());
  ApiResponse response;
  response.content_type = "application/octet-stream";
  response.body = std::move(*piece);
  return response;
}

ApiResponse PostStandbyRows(RequestContext& call) {
  if (auto refusal = RefuseOthers(call)) return std::move(*refusal);
  const Result<MergedRows> merged = call.api.history.Merge(call.request.body);
  if (!merged) return Refuse(call, merged.error());
  if (merged->taken + merged->known > 0) {
    spdlog::info("a standby gave back {}: {} new here, {} known already",
                 Plural(merged->taken + merged->known, "row"), merged->taken, merged->known);
  }
  if (merged->taken > 0 && call.api.on_merged) call.api.on_merged();
  return Reply(call, {{"taken", merged->taken}, {"known", merged->known}});
}

}  // namespace gpuadvise::daemon
