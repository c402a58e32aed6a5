#include "client/commands/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/daemon_client.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"

namespace gpuadvise::client {

using nlohmann::json;

int Report(const Error& error, Console& console) {
  if (console.style().json) PrintJson(ErrorDocument(error), console);
  return ReportInWords(error, console);
}

int ReportInWords(const Error& error, Console& console) {
  console.Complain("gpuadvise: " + error.message);
  for (const Error& each : error.further) console.Complain("gpuadvise: " + each.message);
  return ExitCodeOf(error.code);
}

void PrintJson(const json& answer, Console& console) {
  console.Print(PrintableJson(answer.dump(2, ' ', false, json::error_handler_t::replace)) + "\n");
}

std::string DoubtText(const api::Frame& frame, const TerminalStyle& style) {
  const std::string doubt = DataDoubt(frame);
  return doubt.empty() ? "" : Yellow("Warning: " + doubt, style.colour) + "\n";
}

Result<void> CheckAge(const api::Frame& frame, std::optional<double> max_age_seconds) {
  const double age = frame.snapshot_age_seconds.value_or(0);
  if (!max_age_seconds || age <= *max_age_seconds) return {};
  const std::string cause = frame.meta.stale_cause.value_or("");
  return Fail(ErrorCode::kStale,
              fmt::format("the data is {:.0f} s old, --max-age allows {:.0f} s{}{}", age,
                          *max_age_seconds, cause.empty() ? "" : ": ", cause));
}

}  // namespace gpuadvise::client
