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
  if (options.starts_with("-q ")) return "QOS " + options.substr(3, options.find(" -t") - 3);
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

namespace {

std::string JobsCell(const json& row) {
  const std::string name = TextOf(row, "name"), partition = TextOf(row, "partition");
  if (!name.empty()) return name + " in " + partition;
  const std::string gpu = TextOf(row, "gpu");
  return (gpu.empty() ? "others in " : "others on " + gpu + " in ") + partition;
}

std::string UsedCell(const json& row) {
  const double asked = NumberOf(row, "asked_seconds");
  return asked > 0 ? fmt::format("{:.0f} %", 100 * NumberOf(row, "used_seconds") / asked) : "–";
}

std::string SavedCell(const json& row) {
  const auto saved = OptionalNumber(row, "saved_seconds");
  if (!saved || !OptionalNumber(row, "limit_seconds")) return "–";
  return fmt::format("{:.1f} h", *saved / 3600);
}

AnswerColumn DurationColumn(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) {
            const auto seconds = OptionalNumber(row, key);
            return seconds ? FormatDuration(static_cast<int64_t>(*seconds)) : "–";
          }};
}

constexpr const char* kPastLimitsLegend =
    "ENOUGH: a time limit that 95 % of these runs would have met, without failed and cancelled "
    "runs. WAIT SAVED: all jobs of the row together. For your next job, ask `gpuadvise when "
    "--limits`.";

}  // namespace

std::string PastLimitsText(const json& answer, int64_t now, const TerminalStyle& style) {
  const std::string head =
      fmt::format("Time limits · {} · jobs since {} · {}", TextOf(answer, "user"),
                  ClockTime(IntOf(answer, "since"), now), ClusterAndAge(answer));
  std::string text = Clipped(head, style.width) + "\n";
  for (const std::string& words : TextsOf(answer, "words")) {
    for (const std::string& line : Wrapped(words, style.width)) text += line + "\n";
  }
  const json& groups = ListOf(answer, "groups");
  if (groups.empty()) return text;
  const std::vector<AnswerColumn> columns = {
      {"JOBS", Align::kLeft, JobsCell},
      {"N", Align::kRight, [](const json& row) { return Grouped(IntOf(row, "jobs")); }},
      DurationColumn("LIMIT", "usual_limit_seconds"),
      {"USED", Align::kRight, UsedCell},
      DurationColumn("MEDIAN RUN", "run_p50_seconds"),
      DurationColumn("ENOUGH", "limit_seconds"),
      {"CUT OFF", Align::kRight,
       [](const json& row) {
         return OptionalNumber(row, "limit_seconds") ? Grouped(IntOf(row, "cut")) : "–";
       }},
      {"WAIT SAVED", Align::kRight, SavedCell},
      DurationColumn("LONGEST", "longest_seconds"),
  };
  text += "\n" + AnswerTable(groups, columns, 3, style);
  const int64_t more = IntOf(answer, "groups_in_all") - static_cast<int64_t>(groups.size());
  if (more > 0) text += fmt::format("and {} more\n", Plural(more, "row"));
  text += "\n";
  for (const std::string& line : Wrapped(kPastLimitsLegend, style.width)) text += line + "\n";
  if (const std::string stale = DataDoubt(answer); !stale.empty()) {
    text += Yellow("Warning: " + stale, style.colour) + "\n";
  }
  return text;
}

}  // namespace gpuadvise::client
