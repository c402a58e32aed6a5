// A table whose rows are the objects of a JSON list. Pure.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/console.h"
#include "client/text_table.h"

namespace gpuadvise {

/// One column: a header and what it shows of a row.
struct AnswerColumn {
  std::string header;
  Align align = Align::kLeft;
  std::function<std::string(const nlohmann::json&)> cell;
};

/// The table's lines, the header bold; columns at the end that do not fit are left out, but for the
/// first `least`.
std::string AnswerTable(const nlohmann::json& rows, const std::vector<AnswerColumn>& columns,
                        size_t least, const Look& look);

}  // namespace gpuadvise
