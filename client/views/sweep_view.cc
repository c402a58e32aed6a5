#include "client/views/sweep_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "client/sbatch/job_words.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/text.h"
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

// The words that are in `list`, or in `more`, with commas.
std::string Joined(const std::string& list, const std::string& more) {
  std::vector<std::string> words;
  for (const std::string& text : {list, more}) {
    for (const std::string_view word : SplitAt(text, ',')) {
      if (!word.empty() && !IsOneOf(std::string(word), words)) words.emplace_back(word);
    }
  }
  return Join(words, ",");
}

const api::SweepProgress* FindSweep(const std::vector<api::SweepProgress>& sweeps,
                                    std::optional<int64_t> id, const std::string& cluster = "") {
  for (const api::SweepProgress& sweep : sweeps) {
    if (id && sweep.job_id == *id && sweep.cluster == cluster) return &sweep;
  }
  return nullptr;
}

api::QueueJob Folded(api::QueueJob first, const api::SweepProgress& sweep) {
  first.job_id = sweep.job_id;
  first.array_tasks = Plural(sweep.runs, "run");
  first.array_task_count = sweep.runs;
  if (first.end) first.end->end_p50 = sweep.end_p50;
  if (first.wait && first.wait->start) {  // the row ends when the last run does
    first.wait->run_p50_seconds = sweep.end_p50;
    if (sweep.end_p50) *first.wait->run_p50_seconds -= first.wait->start->start_p50;
  }
  return first;
}

void AddRow(const api::QueueJob& row, api::QueueJob& folded) {
  folded.gres = Joined(folded.gres, row.gres);
  folded.partition = Joined(folded.partition, row.partition);
  folded.nodes = std::max(folded.nodes, row.nodes);
  if (folded.time_limit_seconds != row.time_limit_seconds) folded.time_limit_seconds.reset();
}

api::Experiment Folded(const api::Experiment& first, const api::SweepProgress& sweep) {
  api::Experiment folded;
  folded.job_id = sweep.job_id;
  folded.name = sweep.name;
  folded.submitted_at = sweep.submitted_at;
  folded.state = fmt::format("{} of {} done", sweep.done, sweep.runs);
  folded.sweep = sweep.job_id;
  folded.promise.gpu = first.promise.gpu;
  folded.promise.gpus_per_node = first.promise.gpus_per_node;
  folded.promise.nodes = first.promise.nodes;
  return folded;
}

void AddRow(const api::Experiment& row, api::Experiment& folded) {
  const bool alike = row.promise.gpus_per_node == folded.promise.gpus_per_node &&
                     row.promise.nodes == folded.promise.nodes;
  if (!row.promise.gpu || !folded.promise.gpu) return;
  if (alike) folded.promise.gpu = Joined(*folded.promise.gpu, *row.promise.gpu);
  if (!alike) folded.promise.gpu.reset();  // no name says so many GPUs of this and of that
}

// Rows of a sweep come into the first of them.
template <typename Row>
std::vector<Row> FoldedRows(const std::vector<Row>& rows,
                            const std::vector<api::SweepProgress>& sweeps) {
  std::vector<Row> folded;
  std::map<const api::SweepProgress*, size_t> place;
  for (const Row& row : rows) {
    const api::SweepProgress* sweep = nullptr;
    if constexpr (requires { row.cluster; }) {
      sweep = FindSweep(sweeps, row.sweep, row.cluster);
    } else {
      sweep = FindSweep(sweeps, row.sweep);
    }
    if (sweep == nullptr) {
      folded.push_back(row);
    } else if (const auto [known, is_new] = place.emplace(sweep, folded.size()); is_new) {
      folded.push_back(Folded(row, *sweep));
    } else {
      AddRow(row, folded[known->second]);
    }
  }
  return folded;
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

// "It delays 6 jobs of others by 40 m together"; "" where that is not told.
std::string OthersSentence(const api::Sweep& sweep) {
  constexpr int64_t kNoticed = 60;  // seconds
  if (!sweep.others_delay_seconds) return "";
  if (*sweep.others_delay_seconds < kNoticed) return "It delays no job of others";
  return "It " + OthersDelayInWords(sweep.others_delayed.value_or(0),
                                    static_cast<double>(*sweep.others_delay_seconds));
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
  const std::string others = OthersSentence(*advice.sweep);
  if (!others.empty()) text += Indented(others, 0, style.width);
  return text;
}

std::string ProgressWords(const api::SweepProgress& sweep) {
  std::string words = fmt::format("{} of {} done", Grouped(sweep.done), Grouped(sweep.runs));
  const auto add = [&](int64_t count, const char* word) {
    if (count > 0) words += fmt::format(", {} {}", Grouped(count), word);
  };
  add(sweep.running, "running");
  add(sweep.waiting, "waiting");
  add(sweep.failed, "failed");
  add(sweep.unknown, "out of the queue");
  add(sweep.moved, "moved");
  return words;
}

std::string EndWords(const api::SweepProgress& sweep, int64_t now) {
  if (!sweep.end_p50) return "";
  return "done by " + ClockRange(*sweep.end_p50, sweep.end_p90.value_or(*sweep.end_p50), now);
}

std::string ProgressText(const std::vector<api::SweepProgress>& sweeps, int64_t now,
                         const TerminalStyle& style) {
  constexpr size_t kMostSweeps = 20;
  std::string text;
  for (size_t i = 0; i < std::min(sweeps.size(), kMostSweeps); ++i) {
    const api::SweepProgress& sweep = sweeps[i];
    const std::string end = EndWords(sweep, now);
    text += Indented(fmt::format("Sweep {}, {}: {}{}", sweep.job_id, sweep.name,
                                 ProgressWords(sweep), end.empty() ? "" : "; " + end),
                     0, style.width);
  }
  return text;
}

std::vector<api::QueueJob> FoldedQueue(const api::Queue& queue) {
  return FoldedRows(queue.jobs, queue.sweeps);
}

std::vector<api::Experiment> FoldedJobs(const api::Experiments& log) {
  return FoldedRows(log.jobs, log.sweeps);
}

}  // namespace gpuadvise::client
