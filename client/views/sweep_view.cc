#include "client/views/sweep_view.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "client/sbatch/job_words.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

const api::Strategy* RowOf(const api::Advice& advice, int64_t rank) {
  for (const api::Strategy& row : advice.strategies) {
    if (row.rank == rank) return &row;
  }
  return nullptr;
}

std::string Late(const api::Seconds& seconds, int64_t now) {
  return ClockRange(now + seconds.p50_seconds, now + seconds.p90_seconds, now);
}

std::vector<TextColumn> Columns(const api::Advice& advice, int64_t now) {
  TextColumn number{"  #", {}, Align::kLeft}, name{"STRATEGY", {}, Align::kLeft},
      partition{"PARTITION", {}, Align::kLeft}, runs{"RUNS", {}, Align::kRight},
      at_once{"AT ONCE", {}, Align::kRight}, first{"FIRST STARTS", {}, Align::kLeft},
      last{"LAST DONE p50 (p90)", {}, Align::kLeft}, tasks{"TASKS", {}, Align::kLeft};
  for (const api::SweepShare& share : advice.sweep->shares) {
    const api::Strategy* row = RowOf(advice, share.rank);
    number.cells.push_back(fmt::format("  {}", share.rank));
    name.cells.push_back(row == nullptr ? "–" : StrategyName(*row));
    partition.cells.push_back(row == nullptr ? "–" : row->partition);
    runs.cells.push_back(std::to_string(share.members));
    at_once.cells.push_back(std::to_string(share.at_a_time));
    first.cells.push_back(
        share.start_p50_seconds < 60 ? "now" : ClockTime(now + share.start_p50_seconds, now));
    last.cells.push_back(Late(share.end, now));
    tasks.cells.push_back(share.array);
  }
  return {number, name, runs, at_once, first, last, partition, tasks};
}

}  // namespace

std::string SweepSentence(const api::Sweep& sweep, int64_t now) {
  if (sweep.later_than_played) {
    return fmt::format("{} runs: some start later than is simulated; {} GPU-hours",
                       Grouped(sweep.members), Grouped(std::llround(sweep.gpu_hours)));
  }
  return fmt::format("{} runs: done by {}, half of them by {}; {} GPU-hours",
                     Grouped(sweep.members), Late(sweep.makespan, now),
                     ClockTime(now + sweep.half_done_p50_seconds, now),
                     Grouped(std::llround(sweep.gpu_hours)));
}

std::string SingleSentence(const api::Advice& advice, int64_t now) {
  const api::Sweep& sweep = *advice.sweep;
  const api::Strategy* row = RowOf(advice, sweep.single_rank);
  if (row == nullptr || sweep.shares.size() < 2) return "";
  const int64_t later = sweep.single_makespan.p50_seconds - sweep.makespan.p50_seconds;
  return fmt::format(
      "all {} on {}: done by {}{}", Grouped(sweep.members), StrategyName(*row),
      Late(sweep.single_makespan, now),
      later < 60 ? "" : fmt::format(", {} later", DurationInWords(static_cast<double>(later))));
}

std::string SweepText(const api::Advice& advice, int64_t now, const TerminalStyle& style) {
  if (!advice.sweep || advice.sweep->shares.empty()) return "";
  std::string text = Indented(SweepSentence(*advice.sweep, now), 0, style.width);
  text += FittingTable(Columns(advice, now), 5, style);
  const std::string single = SingleSentence(advice, now);
  if (!single.empty()) text += Indented("Instead " + single, 0, style.width);
  return text;
}

}  // namespace gpuadvise::client
