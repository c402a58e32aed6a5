#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/cluster_tables.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string GpusText(const json& answer, const TerminalStyle& style) {
  std::string text =
      Clipped("GPUs · " + ClusterAndAge(answer) + " · waits (p50) for a job of one hour",
              style.width) +
      "\n\n";
  std::vector<AnswerColumn> columns = GpusColumns();
  AddClusterColumn(ListOf(answer, "gpus"), columns);
  text += AnswerTable(ListOf(answer, "gpus"), columns, 4, style);
  if (const std::string stale = DataDoubt(answer); !stale.empty()) {
    text += Yellow("Warning: " + stale, style.colour) + "\n";
  }
  return text;
}

}  // namespace

int RunGpus(bool as_json, Api& api, Console& console) {
  const Result<json> answer = api.Get("/v1/gpus");
  if (!answer) return Report(answer.error(), console);
  if (as_json) {
    PrintJson(*answer, console);
  } else if (ListOf(*answer, "gpus").empty()) {
    console.Print("This cluster has no GPU that you may use.\n");
  } else {
    console.Print(GpusText(*answer, console.style()));
  }
  return kExitOk;
}

}  // namespace gpuadvise::client
