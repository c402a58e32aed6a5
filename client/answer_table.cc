#include "client/answer_table.h"

namespace gpuadvise {

std::string AnswerTable(const nlohmann::json& rows, const std::vector<AnswerColumn>& columns,
                        size_t least, const Look& look) {
  std::vector<TextColumn> shown;
  for (const AnswerColumn& column : columns) {
    TextColumn one{column.header, {}, column.align};
    for (const nlohmann::json& row : rows) one.cells.push_back(column.cell(row));
    shown.push_back(std::move(one));
  }
  while (shown.size() > least && TableWidth(shown) > look.width) shown.pop_back();
  std::string text;
  for (const std::string& line : TableLines(shown, look.width)) {
    text += (text.empty() ? Bold(line, look.colour) : line) + "\n";
  }
  return text;
}

}  // namespace gpuadvise
