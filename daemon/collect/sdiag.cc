#include "daemon/collect/sdiag.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/text.h"

namespace gpuadvise::collect {
namespace {

constexpr int64_t kMostCounted = int64_t{1} << 50;  // a snapshot carries no sum beyond 2^53

std::optional<int64_t> Counted(SlurmNumber number) {
  const int64_t value = number.value_or(-1);
  return value >= 0 && value <= kMostCounted ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> NumberAt(std::string_view text) {
  text = Trim(text);
  int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() ? Counted(number) : std::nullopt;
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

void AddRpcs(std::optional<int64_t> count, std::optional<int64_t> time, SchedulerHealth& health) {
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
    if (section == Section::kRpcs) {
      AddRpcs(NumberBehind(line, "count:"), NumberBehind(line, "total_time:"), health);
    }
  }
  return health;
}

SchedulerHealth RestHealth(const RestJson& answer) {
  SchedulerHealth health;
  const RestJson* said = RestValue(answer, "statistics");
  if (said == nullptr || !said->is_object()) return health;
  const auto at = [&](const char* key) { return Counted(RestNumber(*said, key)); };
  health.read_at = at("req_time");
  health.since = at("req_time_start");
  health.main = {at("schedule_cycle_last"),       at("schedule_cycle_mean"),
                 at("schedule_cycle_max"),        at("schedule_cycle_total"),
                 at("schedule_cycle_mean_depth"), at("schedule_queue_length")};
  health.backfill = {at("bf_cycle_last"),    at("bf_cycle_mean"), at("bf_cycle_max"),
                     at("bf_cycle_counter"), at("bf_depth_mean"), at("bf_queue_len")};
  for (SchedulerCycles* cycles : {&health.main, &health.backfill}) {
    if (cycles->cycles != 0) continue;
    cycles->mean_us.reset();  // 0 of no cycle
    cycles->mean_depth.reset();
  }
  health.backfilled_jobs = at("bf_last_backfilled_jobs");
  health.server_threads = at("server_thread_count");
  health.agent_queue = at("agent_queue_size");
  for (const RestJson& rpc : RestTable(*said, "rpcs_by_message_type")) {
    AddRpcs(Counted(RestNumber(rpc, "count")), Counted(RestNumber(rpc, "total_time")), health);
  }
  return health;
}

}  // namespace gpuadvise::collect
