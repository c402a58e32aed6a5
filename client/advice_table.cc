#include "client/advice_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/advice_view.h"
#include "client/answer_reader.h"
#include "client/display.h"
#include "client/text_table.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;
using Rows = std::vector<const json*>;

// What is still shown; each step of narrowing takes one thing away.
struct Shape {
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

std::vector<TextColumn> Columns(const Rows& rows, const Shape& shape, int64_t chosen, int64_t now) {
  std::vector<TextColumn> columns;
  columns.push_back(Column("  #", rows, [chosen](const json& row) {
    const int64_t rank = IntOf(row, "rank");
    return fmt::format("{} {}", rank == chosen ? "✔" : " ", rank);
  }));
  columns.push_back(Column("STRATEGY", rows, StrategyName));
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
  if (shape.cost) columns.push_back(Column("COST", rows, CostCell, Align::kRight));
  if (shape.batch) {
    columns.push_back(Column(shape.spaced_batch ? "BATCH × ACC × GPUS" : "BATCH×ACC×GPUS", rows,
                             [&](const json& row) { return BatchCell(row, shape.spaced_batch); }));
  }
  return columns;
}

bool AnyCost(const Rows& rows) {
  for (const json* row : rows) {
    if (OptionalNumber(*row, "cost")) return true;
  }
  return false;
}

std::string SharedPartition(const Rows& rows) {
  const std::string first = rows.empty() ? "" : TextOf(*rows.front(), "partition");
  for (const json* row : rows) {
    if (TextOf(*row, "partition") != first) return {};
  }
  return first;
}

std::vector<void (*)(Shape*)> Sacrifices(bool any_cost, bool one_partition) {
  std::vector<void (*)(Shape*)> steps;
  if (!any_cost) steps.push_back([](Shape* shape) { shape->cost = false; });
  if (one_partition) steps.push_back([](Shape* shape) { shape->partition = false; });
  steps.push_back([](Shape* shape) { shape->spaced_batch = false; });
  steps.push_back([](Shape* shape) { shape->late_done = false; });
  steps.push_back([](Shape* shape) { shape->cost = false; });
  steps.push_back([](Shape* shape) { shape->partition = false; });
  steps.push_back([](Shape* shape) { shape->batch = false; });
  steps.push_back([](Shape* shape) { shape->late_wait = false; });
  steps.push_back([](Shape* shape) { shape->run = false; });
  return steps;
}

}  // namespace

AdviceTable MakeAdviceTable(const Rows& strategies, int64_t chosen_rank, int64_t now, int width) {
  const std::string shared = SharedPartition(strategies);
  Shape shape;
  std::vector<TextColumn> columns = Columns(strategies, shape, chosen_rank, now);
  for (auto sacrifice : Sacrifices(AnyCost(strategies), !shared.empty())) {
    if (TableWidth(columns) <= width) break;
    sacrifice(&shape);
    columns = Columns(strategies, shape, chosen_rank, now);
  }
  return {TableLines(columns, width), shape.partition ? "" : shared};
}

}  // namespace gpuadvise
