// Columns of text, aligned by what a terminal shows.
//
// Pure values and functions. REQUIRES: texts are Printable. Widths are terminal columns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/terminal/console.h"

namespace gpuadvise::client {

enum class Align { kLeft, kRight };

struct TextColumn {
  std::string header;
  std::vector<std::string> cells;
  Align align = Align::kLeft;
};

// Width of a table of `columns`, with two blanks between them.
int TableWidth(const std::vector<TextColumn>& columns);

// The header and one line per row, without trailing blanks or newlines, each clipped to
// `width`. REQUIRES: all columns have the same number of cells.
std::vector<std::string> TableLines(const std::vector<TextColumn>& columns, int width);

// `text` in control sequences; unchanged without colour.
std::string Bold(const std::string& text, bool colour);
std::string Dim(const std::string& text, bool colour);
std::string Green(const std::string& text, bool colour);
std::string Yellow(const std::string& text, bool colour);
std::string Red(const std::string& text, bool colour);

// A column of a table over an answer's rows: a header and the text of each row.
template <typename Row>
struct ColumnOf {
  std::string header;
  Align align = Align::kLeft;
  std::function<std::string(const Row&)> cell;
};

// A column that shows one member of a row by `cell`.
template <typename Row, typename Value, typename Cell>
ColumnOf<Row> MemberColumn(std::string header, Align align, Value Row::*member, Cell cell) {
  return {std::move(header), align, [member, cell](const Row& row) { return cell(row.*member); }};
}

// Text, "–" where there is none.
template <typename Row, typename Text>
ColumnOf<Row> TextMember(std::string header, Text Row::*member) {
  return MemberColumn(std::move(header), Align::kLeft, member,
                      [](const std::optional<std::string>& text) {
                        return text && !text->empty() ? *text : std::string("–");
                      });
}

// A whole number.
template <typename Row>
ColumnOf<Row> CountMember(std::string header, int64_t Row::*member) {
  return MemberColumn(std::move(header), Align::kRight, member,
                      [](int64_t count) { return std::to_string(count); });
}

// The table as text with a bold header. Leaves out columns at the end that do not fit, but keeps
// the first `least`.
std::string FittingTable(std::vector<TextColumn> columns, size_t least, const TerminalStyle& style);

// The cells that `columns` show of `rows`.
template <typename Row>
std::vector<TextColumn> FilledColumns(const std::vector<Row>& rows,
                                      const std::vector<ColumnOf<Row>>& columns) {
  std::vector<TextColumn> filled;
  for (const ColumnOf<Row>& column : columns) {
    TextColumn one{column.header, {}, column.align};
    for (const Row& row : rows) one.cells.push_back(column.cell(row));
    filled.push_back(std::move(one));
  }
  return filled;
}

// FittingTable of `rows`.
template <typename Row>
std::string AnswerTable(const std::vector<Row>& rows, const std::vector<ColumnOf<Row>>& columns,
                        size_t least, const TerminalStyle& style) {
  return FittingTable(FilledColumns(rows, columns), least, style);
}

// "–" for an empty cell.
std::string OrDash(const std::string& text);

}  // namespace gpuadvise::client
