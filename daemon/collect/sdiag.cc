#include "daemon/collect/sdiag.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/text.h"

namespace gpuadvise::collect {
namespace {

constexpr int64_t kMostCounted = int64_t{1} << 50;  // a snapshot carries no sum beyond 2^53

std::optional<int64_t> NumberAt(std::string_view text) {
  text = Trim(text);
  int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && number >= 0 && number <= kMostCounted ? std::optional(number)
                                                                        : std::nullopt;
}

// The number behind `mark`: "count:" of "count:29  ave_time:2355".
std::optional<int64_t> NumberBehind(std::string_view line, std::string_view mark) {
  const size_t at = line.find(mark);
  return at == std::string_view::npos ? std::nullopt : NumberAt(line.substr(at + mark.size()));
}

enum class Section { kServer, kMain, kBackfill, kRpcs, kOther };

Section SectionOf(std::string_view head) {
  if (head.starts_with("Main schedule statistics")) return Section::kMain;
  if (head.starts_with("Backfilling stats")) return Section::kBackfill;
  return head.starts_with("Remote Procedure Call statistics by message type") ? Section::kRpcs
                                                                              : Section::kOther;
}

void ReadCycles(std::string_view key, std::optional<int64_t> value, SchedulerCycles& cycles) {
  if (key == "Last cycle") cycles.last_us = value;
  if (key == "Mean cycle") cycles.mean_us = value;
  if (key == "Max cycle") cycles.max_us = value;
  if (key == "Total cycles") cycles.cycles = value;
  if (key == "Mean depth cycle" || key == "Depth Mean") cycles.mean_depth = value;
  if (key == "Last queue length") cycles.queue_length = value;
}

void AddRpcs(std::string_view line, SchedulerHealth& health) {
  const auto count = NumberBehind(line, "count:");
  const auto time = NumberBehind(line, "total_time:");
  if (!count || !time) return;
  health.rpcs = std::min(kMostCounted, health.rpcs.value_or(0) + *count);
  health.rpc_us = std::min(kMostCounted, health.rpc_us.value_or(0) + *time);
}

}  // namespace

SchedulerHealth ParseSdiag(std::string_view text) {
  SchedulerHealth health;
  Section section = Section::kServer;
  for (std::string_view line : SplitAt(text, '\n')) {
    const size_t colon = line.find(':');
    const std::string_view key = Trim(line.substr(0, colon));
    const auto value =
        colon == std::string_view::npos ? std::nullopt : NumberAt(line.substr(colon + 1));
    if (line.starts_with("sdiag output at")) health.read_at = NumberBehind(line, "(");
    if (line.starts_with("Data since")) health.since = NumberBehind(line, "(");
    if (key == "Server thread count") health.server_threads = value;
    if (key == "Agent queue size") health.agent_queue = value;
    const bool is_head = !line.empty() && line.front() != '\t' && !value;
    if (is_head) section = SectionOf(line);
    if (section == Section::kMain) ReadCycles(key, value, health.main);
    if (section == Section::kBackfill) {
      ReadCycles(key, value, health.backfill);
      if (key.starts_with("Total backfilled jobs (since last stats")) {
        health.backfilled_jobs = value;
      }
    }
    if (section == Section::kRpcs) AddRpcs(line, health);
  }
  return health;
}

}  // namespace gpuadvise::collect
