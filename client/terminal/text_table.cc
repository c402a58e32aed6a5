#include "client/terminal/text_table.h"

#include <algorithm>

#include "client/terminal/display.h"

namespace gpuadvise::client {
namespace {

constexpr int kGap = 2;

int ColumnWidth(const TextColumn& column) {
  int width = DisplayWidth(column.header);
  for (const std::string& cell : column.cells) width = std::max(width, DisplayWidth(cell));
  return width;
}

std::string Padded(const std::string& text, int width, Align align) {
  const std::string blanks(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ');
  return align == Align::kRight ? blanks + text : text + blanks;
}

std::string Finished(std::string line, int width) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return Clipped(line, width);
}

std::string Painted(const std::string& text, const char* code, bool colour) {
  return colour && !text.empty() ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
}

}  // namespace

int TableWidth(const std::vector<TextColumn>& columns) {
  int width = columns.empty() ? 0 : -kGap;
  for (const TextColumn& column : columns) width += ColumnWidth(column) + kGap;
  return width;
}

std::vector<std::string> TableLines(const std::vector<TextColumn>& columns, int width) {
  if (columns.empty()) return {};
  std::vector<std::string> lines(columns.front().cells.size() + 1);
  for (size_t c = 0; c < columns.size(); ++c) {
    const TextColumn& column = columns[c];
    const int own = ColumnWidth(column);
    for (size_t row = 0; row < lines.size(); ++row) {
      const std::string& text = row == 0 ? column.header : column.cells[row - 1];
      if (c > 0) lines[row] += std::string(kGap, ' ');
      lines[row] += Padded(text, own, column.align);
    }
  }
  for (std::string& line : lines) line = Finished(std::move(line), width);
  return lines;
}

std::string Bold(const std::string& text, bool colour) { return Painted(text, "1", colour); }
std::string Dim(const std::string& text, bool colour) { return Painted(text, "2", colour); }
std::string Green(const std::string& text, bool colour) { return Painted(text, "32", colour); }
std::string Yellow(const std::string& text, bool colour) { return Painted(text, "33", colour); }
std::string Red(const std::string& text, bool colour) { return Painted(text, "31", colour); }

std::string FittingTable(std::vector<TextColumn> columns, size_t least,
                         const TerminalStyle& style) {
  while (columns.size() > least && TableWidth(columns) > style.width) columns.pop_back();
  std::string text;
  for (const std::string& line : TableLines(columns, style.width)) {
    text += (text.empty() ? Bold(line, style.colour) : line) + "\n";
  }
  return text;
}

std::string OrDash(const std::string& text) { return text.empty() ? "–" : text; }

}  // namespace gpuadvise::client
