// `gpuadvise accuracy`: accuracy of start-time forecasts on this cluster.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/api/accuracy.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr const char* kLegend =
    "Errors are medians of |start - p50|. BY P50, BY P90: share of the jobs forecast to wait that "
    "had started by then. SLURM'S ERROR: of the first StartTime that Slurm's backfill published.";

struct AccuracyRow {
  std::string label;
  api::AccuracyFigures figures;
};

using KnownFigure = std::optional<double> api::AccuracyFigures::*;

ColumnOf<AccuracyRow> AccuracyCount(const char* header, int64_t api::AccuracyFigures::*member) {
  return {header, Align::kRight,
          [member](const AccuracyRow& row) { return Grouped(row.figures.*member); }};
}

ColumnOf<AccuracyRow> AccuracyDuration(const char* header, KnownFigure member) {
  return {header, Align::kRight, [member](const AccuracyRow& row) {
            const auto seconds = row.figures.*member;
            return seconds ? DurationInWords(*seconds) : std::string("–");
          }};
}

ColumnOf<AccuracyRow> AccuracyShare(const char* header, KnownFigure member) {
  return {header, Align::kRight, [member](const AccuracyRow& row) {
            const auto share = row.figures.*member;
            return share ? fmt::format("{:.0f} %", 100 * *share) : "–";
          }};
}

std::vector<ColumnOf<AccuracyRow>> AccuracyColumns() {
  using Figures = api::AccuracyFigures;
  return {MemberColumn("JOBS", Align::kLeft, &AccuracyRow::label, std::identity()),
          AccuracyCount("N", &Figures::jobs),
          AccuracyDuration("MEDIAN ERROR", &Figures::median_abs_error_seconds),
          AccuracyCount("FORECAST TO WAIT", &Figures::covered_jobs),
          AccuracyDuration("ERROR", &Figures::covered_median_abs_error_seconds),
          AccuracyShare("BY P90", &Figures::coverage_p90),
          AccuracyShare("BY P50", &Figures::coverage_p50),
          AccuracyShare("≤ 10 MIN", &Figures::within_600s),
          AccuracyDuration("SLURM'S ERROR", &Figures::slurm_median_abs_error_seconds),
          AccuracyDuration("OURS, SAME JOBS", &Figures::median_abs_error_seconds_beside_slurm),
          AccuracyCount("OF", &Figures::slurm_jobs)};
}

std::vector<AccuracyRow> AccuracyRows(const api::Accuracy& accuracy) {
  std::vector<AccuracyRow> rows = {{"all forecast", accuracy.all},
                                   {"fit at once", accuracy.fits_now},
                                   {"had to wait", accuracy.does_not_fit_now}};
  for (const api::AccuracyOfGpu& one : accuracy.by_gpu) {
    rows.push_back({one.gpu.empty() && one.gpus == "0"
                        ? "no GPU"
                        : fmt::format("{} × {}", one.gpu.empty() ? "GPU" : one.gpu, one.gpus),
                    one.figures});
  }
  return rows;
}

std::string AccuracyText(const api::Answer<api::Accuracy>& answer, int64_t now,
                         const TerminalStyle& style) {
  std::string head = "Accuracy of start times · " + ClusterAndAge(answer.frame);
  if (answer.since) head += " · since " + ClockTime(*answer.since, now);
  std::string text = Clipped(head, style.width) + "\n";
  for (const std::string& line : Wrapped(answer.note, style.width)) text += line + "\n";
  if (answer.all.jobs == 0) return text;
  text += "\n" + AnswerTable(AccuracyRows(answer), AccuracyColumns(), 4, style) + "\n";
  for (const std::string& line : Wrapped(kLegend, style.width)) text += line + "\n";
  return text;
}

struct AccuracyCommand {};

int Run(AccuracyCommand&, const CommandContext& context) {
  const auto view = [&](const auto& accuracy, const auto& style) {
    return AccuracyText(accuracy, context.console.now(), style);
  };
  return PrintAnswer<api::Accuracy>(context.api.Get("/v1/accuracy"), context.console, view);
}

void AddOptions(AccuracyCommand&, Options& options) { options.JsonAndPlace(); }

}  // namespace

Command MakeAccuracyCommand() {
  return MakeCommand<AccuracyCommand>(
      "accuracy", "Accuracy of start-time forecasts on this cluster", AddOptions, Run);
}

}  // namespace gpuadvise::client
