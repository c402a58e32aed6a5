#include "client/views/limits_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/slurm_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

std::string LimitWords(int64_t seconds) { return DurationInWords(static_cast<double>(seconds)); }

std::string WaitCell(int64_t seconds) { return WaitInWords(static_cast<double>(seconds)); }

constexpr int64_t kWorthSaying = 60;  // seconds sooner

std::string SoonerCell(const api::LimitChoice& row) {
  return row.sooner_seconds < kWorthSaying ? "–" : LimitWords(row.sooner_seconds);
}

std::string RiskCell(const api::LimitChoice& row) {
  return row.risk ? fmt::format("{:.1f} %", 100 * *row.risk) : "not known";
}

std::string PartitionCell(const api::LimitChoice& row) {
  const std::string& options = row.options;
  if (options.starts_with("-q ")) return "QOS " + options.substr(3, options.find(" -t") - 3);
  if (!options.starts_with("-p ")) return "";
  return options.substr(3, options.find(" -t") - 3);
}

}  // namespace

std::string LimitsText(const api::StartAnswer& answer, const TerminalStyle& style) {
  using Row = const api::LimitChoice&;
  const std::vector<ColumnOf<api::LimitChoice>> columns = {
      {"TIME LIMIT", Align::kRight, [](Row row) { return FormatDuration(row.time_limit_seconds); }},
      {"WAIT", Align::kRight, [](Row row) { return WaitCell(row.start.wait.p50_seconds); }},
      {"P90", Align::kRight, [](Row row) { return WaitCell(row.start.wait.p90_seconds); }},
      {"SOONER", Align::kRight, SoonerCell},
      {"CUT OFF", Align::kRight, RiskCell},
      {"ALSO IN", Align::kLeft, PartitionCell},
  };
  std::string text;
  const bool helps = std::any_of(answer.limits.begin(), answer.limits.end(),
                                 [](Row row) { return row.sooner_seconds >= kWorthSaying; });
  if (helps) text += AnswerTable(answer.limits, columns, 2, style);
  if (!helps && answer.limits.size() > 1)
    text += "  A shorter limit would not start it sooner now.\n";
  const api::LimitAdvice advice = answer.limit_advice.value_or(api::LimitAdvice());
  for (const std::string& words : {advice.words, advice.time_min_words}) {
    for (const std::string& part : Wrapped(words, std::max(20, style.width - 2))) {
      if (!part.empty()) text += "  " + part + "\n";
    }
  }
  return text;
}

}  // namespace gpuadvise::client
