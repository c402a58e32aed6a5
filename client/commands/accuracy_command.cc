// `gpuadvise accuracy`: how right forecasts of starts have been on this cluster.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kLegend =
    "Errors are medians of |start - p50|. BY P50, BY P90: share of the jobs forecast to wait that "
    "had started by then. SLURM'S ERROR: of the first StartTime that Slurm's backfill published.";

std::string Seconds(const json& row, const char* key) {
  const auto seconds = OptionalNumber(row, key);
  if (!seconds) return "–";
  return *seconds < 30 ? fmt::format("{:.0f} s", *seconds) : DurationInWords(*seconds);
}

std::string Share(const json& row, const char* key) {
  const auto share = OptionalNumber(row, key);
  return share ? fmt::format("{:.0f} %", 100 * *share) : "–";
}

AnswerColumn Count(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) { return Grouped(IntOf(row, key)); }};
}

AnswerColumn ErrorColumn(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) { return Seconds(row, key); }};
}

AnswerColumn Part(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) { return Share(row, key); }};
}

std::vector<AnswerColumn> AccuracyColumns() {
  return {{"JOBS", Align::kLeft, [](const json& row) { return TextOf(row, "label"); }},
          Count("N", "jobs"),
          ErrorColumn("MEDIAN ERROR", "median_abs_error_seconds"),
          Count("FORECAST TO WAIT", "covered_jobs"),
          ErrorColumn("ERROR", "covered_median_abs_error_seconds"),
          Part("BY P90", "coverage_p90"),
          Part("BY P50", "coverage_p50"),
          Part("≤ 10 MIN", "within_600s"),
          ErrorColumn("SLURM'S ERROR", "slurm_median_abs_error_seconds"),
          ErrorColumn("OURS, SAME JOBS", "median_abs_error_seconds_beside_slurm"),
          Count("OF", "slurm_jobs")};
}

json Labelled(json row, std::string label) {
  row["label"] = std::move(label);
  return row;
}

json RowsOf(const json& answer) {
  json rows = json::array();
  rows.push_back(Labelled(ObjectOf(answer, "all"), "all forecast"));
  rows.push_back(Labelled(ObjectOf(answer, "fits_now"), "fit at once"));
  rows.push_back(Labelled(ObjectOf(answer, "does_not_fit_now"), "had to wait"));
  for (const json& row : ListOf(answer, "by_gpu")) {
    const std::string gpu = TextOf(row, "gpu");
    const std::string gpus = TextOf(row, "gpus");
    rows.push_back(Labelled(row, gpu.empty() && gpus == "0"
                                     ? "no GPU"
                                     : fmt::format("{} × {}", gpu.empty() ? "GPU" : gpu, gpus)));
  }
  return rows;
}

std::string AccuracyText(const json& answer, int64_t now, const TerminalStyle& style) {
  std::string head = "Accuracy of start times · " + ClusterAndAge(answer);
  if (const auto since = OptionalNumber(answer, "since")) {
    head += " · since " + ClockTime(static_cast<int64_t>(*since), now);
  }
  std::string text = Clipped(head, style.width) + "\n";
  for (const std::string& line : Wrapped(TextOf(answer, "note"), style.width)) text += line + "\n";
  if (IntOf(ObjectOf(answer, "all"), "jobs") > 0) {
    text += "\n" + AnswerTable(RowsOf(answer), AccuracyColumns(), 4, style);
    text += "\n";
    for (const std::string& line : Wrapped(kLegend, style.width)) text += line + "\n";
  }
  return text;
}

}  // namespace

int RunAccuracy(bool as_json, Api& api, Console& console) {
  const Result<json> answer = api.Get("/v1/accuracy");
  if (!answer) return Report(answer.error(), console);
  if (as_json) {
    PrintJson(*answer, console);
  } else {
    console.Print(AccuracyText(*answer, console.now(), console.style()));
  }
  return kExitOk;
}

}  // namespace gpuadvise::client
