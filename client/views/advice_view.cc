#include "client/views/advice_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_words.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/sweep_view.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {

namespace {

using Answer = api::Answer<api::Advice>;
using Rows = std::vector<const api::Strategy*>;

constexpr int kNoteIndent = 5;

// "Label: text", further lines under the text's start.
std::string Labelled(const std::string& label, const std::string& text, int width) {
  std::string block = Indented(label + text, 2, width);
  return block.substr(2);
}

std::string EffectiveBatchWords(const std::vector<int64_t>& range) {
  if (range.size() != 2) return {};
  return range[0] == range[1] ? Grouped(range[0]) : Grouped(range[0]) + "–" + Grouped(range[1]);
}

std::string WorkWords(const api::TrainingLength& training) {
  std::string words;
  if (const int64_t steps = training.max_steps.value_or(0); steps > 0) {
    words = Grouped(steps) + " steps";
  } else if (const auto epochs = training.num_train_epochs) {
    words = fmt::format("{} {}", *epochs, *epochs == 1 ? "epoch" : "epochs");
  } else if (const int64_t samples = training.samples.value_or(0); samples > 0) {
    words = Grouped(samples) + " samples";
  }
  const std::string batch = EffectiveBatchWords(training.effective_batch_size);
  if (batch.empty()) return words;
  return words + (words.empty() ? "" : ", ") + "effective batch " + batch;
}

// Whether the rows can be compared by their cost, as the daemon did.
bool AllPriced(const std::vector<api::Strategy>& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const api::Strategy& row) {
    return row.cost && row.cost_unit == rows.front().cost_unit;
  });
}

std::string ObjectiveWords(const Answer& answer) {
  const std::string& word = answer.objective;
  if (word == "finish") return "finish first";
  if (word == "start") return "start first";
  if (word != "cost") return word;
  if (AllPriced(answer.strategies)) return "lowest cost";
  return "fewest GPU-hours (not every row has a price: --price)";
}

std::string HeaderText(const Answer& answer, const AdviceViewOptions& options,
                       const std::string& partition) {
  std::vector<std::string> parts = {answer.name};
  if (const std::string work = WorkWords(answer.training); !work.empty()) parts.push_back(work);
  parts.push_back("objective: " + ObjectiveWords(answer));
  if (const int64_t deadline = answer.deadline.value_or(0); deadline > 0) {
    parts.push_back("deadline " + ClockTime(deadline, options.now));
  }
  if (!partition.empty()) parts.push_back("partition " + partition);
  parts.push_back(ClusterAndAge(answer.frame));
  return Labelled("", Join(parts, " · "), options.style.width);
}

// The notes that all of several rows have.
std::vector<std::string> SharedNotes(const Rows& rows) {
  if (rows.size() < 2) return {};
  std::vector<std::string> shared = rows.front()->notes;
  for (const api::Strategy* row : rows) {
    std::erase_if(shared, [&](const std::string& note) { return !IsOneOf(note, row->notes); });
  }
  return shared;
}

// A row and its notes but `shared`: beside it where there is room, under it otherwise.
std::string RowText(const api::Strategy& row, const std::string& line,
                    const AdviceViewOptions& options, bool chosen,
                    const std::vector<std::string>& shared) {
  const bool colour = options.style.colour;
  std::vector<std::string> own = row.notes;
  std::erase_if(own, [&](const std::string& note) { return IsOneOf(note, shared); });
  const std::string notes = Join(own, "; ");
  const std::string shown = chosen ? Green(line, colour) : line;
  if (notes.empty()) return shown + "\n";
  const bool beside = DisplayWidth(line) + 3 + DisplayWidth(notes) <= options.style.width;
  if (beside) return shown + "   " + Dim(notes, colour) + "\n";
  return shown + "\n" + Indented(notes, kNoteIndent, options.style.width);
}

std::string TableText(const Rows& rows, const AdviceViewOptions& options,
                      std::string* shared_partition) {
  const int64_t first = rows.empty() ? 0 : rows.front()->rank;
  const int64_t chosen = options.chosen_rank != 0 ? options.chosen_rank : first;
  const AdviceTable table = MakeAdviceTable(rows, chosen, options.now, options.style.width);
  *shared_partition = table.shared_partition;
  if (rows.empty()) return {};
  std::string text = Bold(table.lines.front(), options.style.colour) + "\n";
  const std::vector<std::string> shared = SharedNotes(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    text += RowText(*rows[i], table.lines[i + 1], options, rows[i]->rank == chosen, shared);
  }
  for (const std::string& note : shared) {
    text += Labelled("Every row: ", note, options.style.width);
  }
  return text;
}

// Where no row is done in time nine times out of ten.
std::string DeadlineText(const Answer& answer, const AdviceViewOptions& options) {
  const api::Strategy* best = nullptr;
  for (const api::Strategy& row : answer.strategies) {
    if (!row.deadline_chance || row.makes_deadline.value_or(false)) return {};
    if (best == nullptr || *row.deadline_chance > *best->deadline_chance) best = &row;
  }
  if (best == nullptr) return {};
  return Yellow(Labelled("Deadline: ",
                         fmt::format("no row is done by {} with 90 % probability; the most likely "
                                     "is row {} ({:.0f} %)",
                                     ClockTime(answer.deadline.value_or(0), options.now),
                                     best->rank, std::floor(100 * *best->deadline_chance)),
                         options.style.width),
                options.style.colour);
}

std::string WhyText(const Rows& rows, const AdviceViewOptions& options) {
  std::string text;
  for (const api::Strategy* row : rows) {
    const std::string reasons = Join(row->reasons, "; ");
    if (reasons.empty()) continue;
    text += Labelled(fmt::format("Why {}: ", row->rank), reasons, options.style.width);
    if (!options.all) break;  // the others' reasons only on demand
  }
  return text;
}

// Rejections that read the same are one line.
std::string RejectedText(const Answer& answer, const AdviceViewOptions& options, size_t* left_out) {
  std::string text;
  std::set<std::string> seen;
  for (const api::Rejection& rejected : answer.rejected) {
    if (!options.all && rejected.others_possible) {
      ++*left_out;
      continue;
    }
    const std::string line = (rejected.cluster.empty() ? "" : rejected.cluster + ": ") +
                             StrategyName(rejected) + " — " + Join(rejected.reasons, "; ");
    if (seen.insert(line).second) text += Labelled("Not possible: ", line, options.style.width);
  }
  return text;
}

// What --all shows beside `rows`: further ways on the same GPUs, by their numbers.
std::string MoreText(const Answer& answer, const Rows& rows, size_t rejected_left_out) {
  constexpr size_t kMostNumbers = 6;
  std::vector<std::string> left_out;
  for (const api::Strategy& row : answer.strategies) {
    const bool shown = std::find(rows.begin(), rows.end(), &row) != rows.end();
    if (!shown) left_out.push_back(std::to_string(row.rank));
  }
  std::vector<std::string> parts;
  if (!left_out.empty()) {
    parts.push_back(Plural(static_cast<int64_t>(left_out.size()), "more option") +
                    " on these GPUs (" + (left_out.size() == 1 ? "row " : "rows ") +
                    JoinNames(left_out, kMostNumbers) + ")");
  }
  if (rejected_left_out > 0) {
    parts.push_back(fmt::format("{} impossible", rejected_left_out));
  }
  return parts.empty() ? "" : JoinNames(parts) + " with --all.\n";
}

// Why the training's command would not do what the shown rows say, or may not: `submit` stops or
// warns.
std::string ConflictsText(const Answer& answer, const Rows& rows,
                          const AdviceViewOptions& options) {
  std::string text;
  for (const api::CommandConflict& conflict : answer.command_conflicts) {
    std::vector<std::string> ranks;
    for (const int64_t rank : conflict.ranks) {
      const bool is_shown =
          std::any_of(rows.begin(), rows.end(), [&](const auto* row) { return row->rank == rank; });
      if (is_shown) ranks.push_back(std::to_string(rank));
    }
    if (ranks.empty()) continue;
    const bool all = ranks.size() == rows.size();
    const std::string some = (ranks.size() == 1 ? "row " : "rows ") + JoinNames(ranks);
    const std::string which = conflict.certain
                                  ? (all ? "no row can" : some + " cannot") + " be submitted"
                                  : (all ? "every row" : some) + " may run otherwise than advised";
    text += Yellow(Labelled("Command: ", conflict.cause + ": " + which + "; " + conflict.remedy,
                            options.style.width),
                   options.style.colour);
  }
  const int64_t chosen = options.chosen_rank;
  if (chosen > 0 && !answer.strategies.empty() && chosen != answer.strategies.front().rank) {
    text += Labelled(
        "Choice: ",
        fmt::format("row {} is the first that the command can follow: submit takes it", chosen),
        options.style.width);
  }
  return text;
}

std::string AssumedText(const Answer& answer, const AdviceViewOptions& options) {
  if (answer.assumed.empty()) return {};
  const std::string text = Labelled("Assumed: ", Join(answer.assumed, "; "), options.style.width);
  return answer.unsettled.empty() ? text : Yellow(text, options.style.colour);
}

std::string TipsText(const Answer& answer, const AdviceViewOptions& options) {
  std::string text;
  for (const std::string& tip : answer.tips) text += Labelled("Tip: ", tip, options.style.width);
  return text;
}

std::string ForecastText(const Answer& answer, const AdviceViewOptions& options) {
  std::string text;
  const std::string& note = answer.forecast.note;
  if (!note.empty()) text += Labelled("Forecast: ", note, options.style.width);
  std::vector<std::string> warnings = answer.frame.warnings;
  if (std::string stale = DataDoubt(answer.frame); !stale.empty()) warnings.push_back(stale);
  for (const std::string& warning : warnings) {
    text += Yellow(Labelled("Warning: ", warning, options.style.width), options.style.colour);
  }
  return text;
}

}  // namespace

std::vector<const api::Strategy*> RowsToShow(const api::Advice& advice, bool all,
                                             int64_t chosen_rank) {
  Rows rows;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const api::Strategy& row : advice.strategies) {
    const bool is_new = seen.insert({row.cluster, row.gpu, row.partition}).second;
    if (is_new || all || row.rank == chosen_rank) rows.push_back(&row);
  }
  return rows;
}

namespace {

bool ComparesGpus(const Answer& answer) {
  const auto& rows = answer.strategies;
  return std::any_of(rows.begin(), rows.end(),
                     [&](const api::Strategy& row) { return row.gpu != rows.front().gpu; });
}

}  // namespace

std::string AdviceText(const Answer& answer, const AdviceViewOptions& options) {
  const Rows rows = RowsToShow(answer, options.all, options.chosen_rank);
  std::string shared_partition;
  const std::string table = TableText(rows, options, &shared_partition);
  size_t rejected_left_out = 0;
  std::string text = HeaderText(answer, options, shared_partition) + "\n";
  if (!options.narrowed_by.empty() && !ComparesGpus(answer)) {
    text += Indented(fmt::format("Considered is only what {} of the file {}; without that more "
                                 "GPUs may be compared.",
                                 JoinNames(options.narrowed_by),
                                 options.narrowed_by.size() == 1 ? "allows" : "allow"),
                     0, options.style.width) +
            "\n";
  }
  if (table.empty()) text += "No strategy can run this job on this cluster.\n";
  text += table;
  const std::string sweep = SweepText(answer, options.now, options.style);
  if (!sweep.empty()) text += "\n" + sweep;
  const std::string why = WhyText(rows, options);
  const std::string rejected = RejectedText(answer, options, &rejected_left_out);
  const std::string more = MoreText(answer, rows, rejected_left_out);
  if (!why.empty()) text += "\n" + why;
  text += DeadlineText(answer, options);
  text += AssumedText(answer, options) + ConflictsText(answer, rows, options) + rejected + more +
          TipsText(answer, options) + ForecastText(answer, options);
  return text;
}

namespace {

// What is still shown; each step of narrowing takes one thing away.
struct AdviceTableShape {
  bool cost = true;
  bool partition = true;
  bool spaced_batch = true;
  bool late_done = true;
  bool late_wait = true;
  bool run = true;
  bool batch = true;
};

template <typename Cell>
TextColumn Column(std::string header, const Rows& rows, Cell cell, Align align = Align::kLeft) {
  TextColumn column{std::move(header), {}, align};
  for (const api::Strategy* row : rows) column.cells.push_back(cell(*row));
  return column;
}

std::string WaitCell(const api::Seconds& wait, bool late) {
  const auto p50 = static_cast<double>(wait.p50_seconds);
  return WaitRange(p50, late ? static_cast<double>(wait.p90_seconds) : p50);
}

std::string DoneCell(const api::Seconds& total, bool late, int64_t now) {
  const int64_t p50 = now + total.p50_seconds;
  return late ? ClockRange(p50, now + total.p90_seconds, now) : ClockTime(p50, now);
}

std::string CostCell(const api::Strategy& row) {
  if (!row.cost) return "–";
  return *row.cost < 100 ? fmt::format("{:.2f}", *row.cost) : fmt::format("{:.0f}", *row.cost);
}

std::string BatchCell(const api::Strategy& row, bool spaced) {
  return fmt::format(fmt::runtime(spaced ? "{} × {} × {} = {}" : "{}×{}×{}={}"), row.micro_batch,
                     row.accumulation, GpusOf(row), row.effective_batch_size);
}

// "yes (97 %)": nine times out of ten or more.
std::string InTimeCell(const api::Strategy& row) {
  if (!row.deadline_chance) return "–";
  return fmt::format("{} ({:.0f} %)", row.makes_deadline.value_or(false) ? "yes" : "no",
                     std::floor(100 * *row.deadline_chance));
}

// "6 +40 m": six jobs of others start 40 minutes later in all.
std::string OthersCell(const api::Strategy& row) {
  if (!row.others_delay_seconds) return "–";
  if (*row.others_delay_seconds < 60) return "none";
  return fmt::format("{:.0f} +{}", std::max(1.0, row.others_delayed.value_or(0)),
                     DurationInWords(static_cast<double>(*row.others_delay_seconds)));
}

template <typename Test>
bool AnyOf(const Rows& rows, Test test) {
  return std::any_of(rows.begin(), rows.end(), [&](const auto* row) { return test(*row); });
}

std::vector<TextColumn> Columns(const Rows& rows, const AdviceTableShape& shape, int64_t chosen,
                                int64_t now) {
  using Row = const api::Strategy&;
  std::vector<TextColumn> columns;
  columns.push_back(Column("  #", rows, [chosen](Row row) {
    return fmt::format("{} {}", row.rank == chosen ? "✔" : " ", row.rank);
  }));
  columns.push_back(Column("STRATEGY", rows, [](Row row) { return StrategyName(row); }));
  if (AnyOf(rows, [](Row row) { return !row.cluster.empty(); })) {
    columns.push_back(Column("CLUSTER", rows, [](Row row) { return OrDash(row.cluster); }));
  }
  if (shape.partition) {
    columns.push_back(Column("PARTITION", rows, [](Row row) { return row.partition; }));
  }
  columns.push_back(Column(shape.late_wait ? "WAIT p50 (p90)" : "WAIT p50", rows,
                           [&](Row row) { return WaitCell(row.wait, shape.late_wait); }));
  if (shape.run) {
    columns.push_back(Column("RUN", rows, [](Row row) {
      return DurationInWords(static_cast<double>(row.run.p50_seconds));
    }));
  }
  columns.push_back(Column(shape.late_done ? "DONE p50 (p90)" : "DONE p50", rows,
                           [&](Row row) { return DoneCell(row.total, shape.late_done, now); }));
  if (AnyOf(rows, [](Row row) { return row.deadline_chance.has_value(); })) {
    columns.push_back(Column("IN TIME", rows, InTimeCell));
  }
  if (!AnyOf(rows, [](Row row) { return !row.others_delay_seconds; })) {
    columns.push_back(Column("OTHERS", rows, OthersCell));
  }
  if (shape.cost) columns.push_back(Column("COST", rows, CostCell, Align::kRight));
  if (shape.batch) {
    columns.push_back(Column(shape.spaced_batch ? "BATCH × ACC × GPUS" : "BATCH×ACC×GPUS", rows,
                             [&](Row row) { return BatchCell(row, shape.spaced_batch); }));
  }
  return columns;
}

std::string SharedPartition(const Rows& rows) {
  const std::string first = rows.empty() ? "" : rows.front()->partition;
  return AnyOf(rows, [&](const auto& row) { return row.partition != first; }) ? "" : first;
}

// Whether rows read the same without their partitions.
bool NeedsPartitions(const Rows& rows) {
  std::map<std::string, std::string> partitions;  // by the rest of the name
  return AnyOf(rows, [&](const auto& row) {
    const auto& [at, is_new] =
        partitions.emplace(row.cluster + " " + StrategyName(row), row.partition);
    return at->second != row.partition;
  });
}

std::vector<void (*)(AdviceTableShape*)> Sacrifices(const Rows& rows, bool one_partition) {
  const bool any_cost = AnyOf(rows, [](const auto& row) { return row.cost.has_value(); });
  const bool needs_partitions = NeedsPartitions(rows);
  std::vector<void (*)(AdviceTableShape*)> steps;
  if (!any_cost) steps.push_back([](AdviceTableShape* shape) { shape->cost = false; });
  if (one_partition) steps.push_back([](AdviceTableShape* shape) { shape->partition = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->spaced_batch = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->late_done = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->cost = false; });
  const auto no_partition = [](AdviceTableShape* shape) { shape->partition = false; };
  if (!needs_partitions) steps.push_back(no_partition);
  steps.push_back([](AdviceTableShape* shape) { shape->batch = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->late_wait = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->run = false; });
  if (needs_partitions) steps.push_back(no_partition);
  return steps;
}

}  // namespace

AdviceTable MakeAdviceTable(const Rows& strategies, int64_t chosen_rank, int64_t now, int width) {
  const std::string shared = SharedPartition(strategies);
  AdviceTableShape shape;
  std::vector<TextColumn> columns = Columns(strategies, shape, chosen_rank, now);
  for (auto sacrifice : Sacrifices(strategies, !shared.empty())) {
    if (TableWidth(columns) <= width) break;
    sacrifice(&shape);
    columns = Columns(strategies, shape, chosen_rank, now);
  }
  return {TableLines(columns, width), shape.partition ? "" : shared};
}

}  // namespace gpuadvise::client
