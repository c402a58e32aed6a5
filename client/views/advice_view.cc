#include "client/views/advice_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_words.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {

namespace {

using nlohmann::json;

constexpr int kNoteIndent = 5;

// "Label: text", further lines under the text's start.
std::string Labelled(const std::string& label, const std::string& text, int width) {
  std::string block = Indented(label + text, 2, width);
  return block.substr(2);
}

std::string EffectiveBatchWords(const json& training) {
  const auto found = training.find("effective_batch_size");
  if (found == training.end()) return {};
  if (found->is_number_integer()) return Grouped(found->get<int64_t>());
  if (!found->is_array() || found->size() != 2 || !found->front().is_number_integer()) return {};
  const int64_t low = (*found)[0].get<int64_t>();
  const int64_t high = (*found)[1].is_number_integer() ? (*found)[1].get<int64_t>() : low;
  return low == high ? Grouped(low) : Grouped(low) + "–" + Grouped(high);
}

std::string WorkWords(const json& answer) {
  const json& training = ObjectOf(answer, "training");
  std::string words;
  if (const int64_t steps = IntOf(training, "max_steps"); steps > 0) {
    words = Grouped(steps) + " steps";
  } else if (const auto epochs = OptionalNumber(training, "num_train_epochs")) {
    words = fmt::format("{} {}", *epochs, *epochs == 1 ? "epoch" : "epochs");
  } else if (const int64_t samples = IntOf(training, "samples"); samples > 0) {
    words = Grouped(samples) + " samples";
  }
  const std::string batch = EffectiveBatchWords(training);
  if (batch.empty()) return words;
  return words + (words.empty() ? "" : ", ") + "effective batch " + batch;
}

std::string ObjectiveWords(const json& answer) {
  const std::string word = TextOf(answer, "objective");
  if (word == "finish") return "finish first";
  if (word == "start") return "start first";
  if (word == "cost") return "lowest cost";
  return word;
}

std::string HeaderText(const json& answer, const AdviceViewOptions& options,
                       const std::string& partition) {
  std::vector<std::string> parts = {TextOf(answer, "name")};
  if (const std::string work = WorkWords(answer); !work.empty()) parts.push_back(work);
  parts.push_back("objective: " + ObjectiveWords(answer));
  if (const int64_t deadline = IntOf(answer, "deadline"); deadline > 0) {
    parts.push_back("deadline " + ClockTime(deadline, options.now));
  }
  if (!partition.empty()) parts.push_back("partition " + partition);
  parts.push_back(ClusterAndAge(answer));
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : " · ") + part;
  return Labelled("", line, options.style.width);
}

std::vector<const json*> Picked(const json& answer, const std::vector<size_t>& indices) {
  std::vector<const json*> rows;
  for (size_t index : indices) rows.push_back(&ListOf(answer, "strategies")[index]);
  return rows;
}

// A row and its notes: beside it where there is room, under it otherwise.
std::string RowText(const json& row, const std::string& line, const AdviceViewOptions& options,
                    bool chosen) {
  const bool colour = options.style.colour;
  const std::string notes = Join(TextsOf(row, "notes"), "; ");
  const std::string shown = chosen ? Green(line, colour) : line;
  if (notes.empty()) return shown + "\n";
  const bool beside = DisplayWidth(line) + 3 + DisplayWidth(notes) <= options.style.width;
  if (beside) return shown + "   " + Dim(notes, colour) + "\n";
  return shown + "\n" + Indented(notes, kNoteIndent, options.style.width);
}

std::string TableText(const json& answer, const std::vector<size_t>& indices,
                      const AdviceViewOptions& options, std::string* shared_partition) {
  const std::vector<const json*> rows = Picked(answer, indices);
  const int64_t first = rows.empty() ? 0 : IntOf(*rows.front(), "rank");
  const int64_t chosen = options.chosen_rank != 0 ? options.chosen_rank : first;
  const AdviceTable table = MakeAdviceTable(rows, chosen, options.now, options.style.width);
  *shared_partition = table.shared_partition;
  if (rows.empty()) return {};
  std::string text = Bold(table.lines.front(), options.style.colour) + "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    text += RowText(*rows[i], table.lines[i + 1], options, IntOf(*rows[i], "rank") == chosen);
  }
  return text;
}

std::string WhyText(const json& answer, const std::vector<size_t>& indices,
                    const AdviceViewOptions& options) {
  std::string text;
  for (const json* row : Picked(answer, indices)) {
    const std::string reasons = Join(TextsOf(*row, "reasons"), "; ");
    if (reasons.empty()) continue;
    const std::string label = fmt::format("Why {}: ", IntOf(*row, "rank"));
    text += Labelled(label, reasons, options.style.width);
    if (!options.all) break;  // the others' reasons only on demand
  }
  return text;
}

bool OthersPossible(const json& rejected, const json& answer) {
  const auto said = rejected.find("others_possible");
  if (said != rejected.end() && said->is_boolean()) return said->get<bool>();
  for (const json& strategy : ListOf(answer, "strategies")) {
    const bool same_cluster = TextOf(strategy, "cluster") == TextOf(rejected, "cluster");
    if (same_cluster && TextOf(strategy, "gpu") == TextOf(rejected, "gpu")) return true;
  }
  return false;
}

// Rejections that read the same are one line.
std::string RejectedText(const json& answer, const AdviceViewOptions& options, size_t* left_out) {
  std::string text;
  std::set<std::string> seen;
  for (const json& rejected : ListOf(answer, "rejected")) {
    if (!rejected.is_object()) continue;
    if (!options.all && OthersPossible(rejected, answer)) {
      ++*left_out;
      continue;
    }
    const std::string cluster = TextOf(rejected, "cluster");
    const std::string line = (cluster.empty() ? "" : cluster + ": ") + StrategyName(rejected) +
                             " — " + Join(TextsOf(rejected, "reasons"), "; ");
    if (seen.insert(line).second) text += Labelled("Not possible: ", line, options.style.width);
  }
  return text;
}

std::string MoreText(size_t rows_left_out, size_t rejected_left_out) {
  std::vector<std::string> parts;
  if (rows_left_out > 0)
    parts.push_back(Plural(static_cast<int64_t>(rows_left_out), "more option"));
  if (rejected_left_out > 0) {
    parts.push_back(fmt::format("{} impossible", rejected_left_out));
  }
  return parts.empty() ? "" : JoinNames(parts) + " with --all.\n";
}

// Why the training's command would not do what the shown rows say.
std::string ConflictsText(const json& answer, const std::vector<size_t>& indices,
                          const AdviceViewOptions& options) {
  std::vector<int64_t> shown;
  for (size_t index : indices) shown.push_back(IntOf(answer["strategies"][index], "rank"));
  std::string text;
  for (const json& conflict : ListOf(answer, "command_conflicts")) {
    std::vector<std::string> ranks;
    for (const json& rank : ListOf(conflict, "ranks")) {
      if (!rank.is_number_integer()) continue;
      const bool is_shown = std::find(shown.begin(), shown.end(), rank) != shown.end();
      if (is_shown) ranks.push_back(rank.dump());
    }
    if (ranks.empty()) continue;
    const bool all = ranks.size() == shown.size();
    const std::string rows =
        all ? "no row can be submitted"
            : (ranks.size() == 1 ? "row " : "rows ") + JoinNames(ranks) + " cannot be submitted";
    text +=
        Yellow(Labelled("Command: ",
                        TextOf(conflict, "cause") + ": " + rows + "; " + TextOf(conflict, "remedy"),
                        options.style.width),
               options.style.colour);
  }
  return text;
}

std::string TipsText(const json& answer, const AdviceViewOptions& options) {
  std::string text;
  for (const std::string& tip : TextsOf(answer, "tips")) {
    text += Labelled("Tip: ", tip, options.style.width);
  }
  return text;
}

std::string ForecastText(const json& answer, const AdviceViewOptions& options) {
  std::string text;
  const std::string note = TextOf(ObjectOf(answer, "forecast"), "note");
  if (!note.empty()) text += Labelled("Forecast: ", note, options.style.width);
  for (const std::string& warning : TextsOf(answer, "warnings")) {
    text += Yellow(Labelled("Warning: ", warning, options.style.width), options.style.colour);
  }
  if (const std::string stale = DataDoubt(answer); !stale.empty()) {
    text += Yellow(Labelled("Warning: ", stale, options.style.width), options.style.colour);
  }
  return text;
}

}  // namespace

std::vector<size_t> RowsToShow(const json& answer, bool all) {
  std::vector<size_t> indices;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  const json& strategies = ListOf(answer, "strategies");
  for (size_t i = 0; i < strategies.size(); ++i) {
    const auto key = std::tuple(TextOf(strategies[i], "cluster"), TextOf(strategies[i], "gpu"),
                                TextOf(strategies[i], "partition"));
    if (seen.insert(key).second || all) indices.push_back(i);
  }
  return indices;
}

std::string AdviceText(const json& answer, const AdviceViewOptions& options) {
  const std::vector<size_t> indices = RowsToShow(answer, options.all);
  const size_t rows_left_out = ListOf(answer, "strategies").size() - indices.size();
  std::string shared_partition;
  const std::string table = TableText(answer, indices, options, &shared_partition);
  size_t rejected_left_out = 0;
  std::string text = HeaderText(answer, options, shared_partition) + "\n";
  if (table.empty()) text += "No strategy can run this job on this cluster.\n";
  text += table;
  const std::string why = WhyText(answer, indices, options);
  const std::string rejected = RejectedText(answer, options, &rejected_left_out);
  const std::string more = MoreText(rows_left_out, rejected_left_out);
  if (!why.empty()) text += "\n" + why;
  text += ConflictsText(answer, indices, options) + rejected + more + TipsText(answer, options) +
          ForecastText(answer, options);
  return text;
}

namespace {

using Rows = std::vector<const json*>;

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
  for (const json* row : rows) column.cells.push_back(cell(*row));
  return column;
}

std::string WaitCell(const json& row, bool late) {
  const double p50 = NumberOf(row, "wait_p50_seconds");
  return late ? DurationRange(p50, NumberOf(row, "wait_p90_seconds")) : DurationInWords(p50);
}

std::string DoneCell(const json& row, bool late, int64_t now) {
  const int64_t p50 = now + IntOf(row, "total_p50_seconds");
  return late ? ClockRange(p50, now + IntOf(row, "total_p90_seconds"), now) : ClockTime(p50, now);
}

std::string CostCell(const json& row) {
  const auto cost = OptionalNumber(row, "cost");
  if (!cost) return "–";
  return *cost < 100 ? fmt::format("{:.2f}", *cost) : fmt::format("{:.0f}", *cost);
}

std::string BatchCell(const json& row, bool spaced) {
  const int64_t gpus = IntOf(row, "gpus_per_node", 1) * IntOf(row, "nodes", 1);
  return fmt::format(fmt::runtime(spaced ? "{} × {} × {} = {}" : "{}×{}×{}={}"),
                     IntOf(row, "micro_batch"), IntOf(row, "accumulation"), gpus,
                     IntOf(row, "effective_batch_size"));
}

// "yes (97 %)": nine times out of ten or more.
std::string InTimeCell(const json& row) {
  const auto chance = OptionalNumber(row, "deadline_chance");
  if (!chance) return "–";
  return fmt::format("{} ({:.0f} %)", IsTrue(row, "makes_deadline") ? "yes" : "no",
                     std::floor(100 * *chance));
}

bool AnyOf(const Rows& rows, const char* key) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const json* row) { return OptionalNumber(*row, key).has_value(); });
}

std::vector<TextColumn> Columns(const Rows& rows, const AdviceTableShape& shape, int64_t chosen,
                                int64_t now) {
  std::vector<TextColumn> columns;
  columns.push_back(Column("  #", rows, [chosen](const json& row) {
    const int64_t rank = IntOf(row, "rank");
    return fmt::format("{} {}", rank == chosen ? "✔" : " ", rank);
  }));
  columns.push_back(Column("STRATEGY", rows, StrategyName));
  const bool of_clusters = std::any_of(
      rows.begin(), rows.end(), [](const json* row) { return !TextOf(*row, "cluster").empty(); });
  if (of_clusters) {
    columns.push_back(
        Column("CLUSTER", rows, [](const json& row) { return OrDash(TextOf(row, "cluster")); }));
  }
  if (shape.partition) {
    columns.push_back(
        Column("PARTITION", rows, [](const json& row) { return TextOf(row, "partition"); }));
  }
  columns.push_back(Column(shape.late_wait ? "WAIT p50 (p90)" : "WAIT p50", rows,
                           [&](const json& row) { return WaitCell(row, shape.late_wait); }));
  if (shape.run) {
    columns.push_back(Column("RUN", rows, [](const json& row) {
      return DurationInWords(NumberOf(row, "run_p50_seconds"));
    }));
  }
  columns.push_back(Column(shape.late_done ? "DONE p50 (p90)" : "DONE p50", rows,
                           [&](const json& row) { return DoneCell(row, shape.late_done, now); }));
  if (AnyOf(rows, "deadline_chance")) columns.push_back(Column("IN TIME", rows, InTimeCell));
  if (shape.cost) columns.push_back(Column("COST", rows, CostCell, Align::kRight));
  if (shape.batch) {
    columns.push_back(Column(shape.spaced_batch ? "BATCH × ACC × GPUS" : "BATCH×ACC×GPUS", rows,
                             [&](const json& row) { return BatchCell(row, shape.spaced_batch); }));
  }
  return columns;
}

std::string SharedPartition(const Rows& rows) {
  const std::string first = rows.empty() ? "" : TextOf(*rows.front(), "partition");
  for (const json* row : rows) {
    if (TextOf(*row, "partition") != first) return {};
  }
  return first;
}

std::vector<void (*)(AdviceTableShape*)> Sacrifices(bool any_cost, bool one_partition) {
  std::vector<void (*)(AdviceTableShape*)> steps;
  if (!any_cost) steps.push_back([](AdviceTableShape* shape) { shape->cost = false; });
  if (one_partition) steps.push_back([](AdviceTableShape* shape) { shape->partition = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->spaced_batch = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->late_done = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->cost = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->partition = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->batch = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->late_wait = false; });
  steps.push_back([](AdviceTableShape* shape) { shape->run = false; });
  return steps;
}

}  // namespace

AdviceTable MakeAdviceTable(const Rows& strategies, int64_t chosen_rank, int64_t now, int width) {
  const std::string shared = SharedPartition(strategies);
  AdviceTableShape shape;
  std::vector<TextColumn> columns = Columns(strategies, shape, chosen_rank, now);
  for (auto sacrifice : Sacrifices(AnyOf(strategies, "cost"), !shared.empty())) {
    if (TableWidth(columns) <= width) break;
    sacrifice(&shape);
    columns = Columns(strategies, shape, chosen_rank, now);
  }
  return {TableLines(columns, width), shape.partition ? "" : shared};
}

}  // namespace gpuadvise::client
