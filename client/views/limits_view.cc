#include "client/views/limits_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string SoonerCell(const json& row) {
  const double sooner = NumberOf(row, "sooner_seconds");
  if (sooner < 60) return "";
  return DurationInWords(sooner);
}

std::string RiskCell(const json& row) {
  const auto risk = OptionalNumber(row, "risk");
  return risk ? fmt::format("{:.1f} %", 100 * *risk) : "not known";
}

std::string PartitionCell(const json& row) {
  const std::string options = TextOf(row, "options");
  if (!options.starts_with("-p ")) return "";
  return options.substr(3, options.find(" -t") - 3);
}

}  // namespace

std::string LimitsText(const json& answer, const TerminalStyle& style) {
  const std::vector<AnswerColumn> columns = {
      {"TIME LIMIT", Align::kRight,
       [](const json& row) { return FormatDuration(IntOf(row, "time_limit_seconds")); }},
      {"WAIT", Align::kRight,
       [](const json& row) { return DurationInWords(NumberOf(row, "wait_p50_seconds")); }},
      {"P90", Align::kRight,
       [](const json& row) { return DurationInWords(NumberOf(row, "wait_p90_seconds")); }},
      {"SOONER", Align::kRight, [](const json& row) { return OrDash(SoonerCell(row)); }},
      {"CUT OFF", Align::kRight, RiskCell},
      {"ALSO IN", Align::kLeft, PartitionCell},
  };
  std::string text;
  const json& limits = ListOf(answer, "limits");
  if (limits.size() > 1) text += AnswerTable(limits, columns, 2, style);
  const json& advice = ObjectOf(answer, "limit_advice");
  for (const char* key : {"words", "time_min_words"}) {
    for (const std::string& part : Wrapped(TextOf(advice, key), std::max(20, style.width - 2))) {
      if (!part.empty()) text += "  " + part + "\n";
    }
  }
  return text;
}

}  // namespace gpuadvise::client
