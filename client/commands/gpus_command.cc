#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/cluster_tables.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string GpusText(const api::Answer<api::Gpus>& answer, const TerminalStyle& style) {
  if (answer.gpus.empty()) return "This cluster has no GPU that you may use.\n";
  std::vector<ColumnOf<api::GpuType>> columns = GpusColumns();
  AddClusterColumn(answer.gpus, columns);
  return Clipped("GPUs · " + ClusterAndAge(answer.frame) + " · waits (p50) for a job of one hour",
                 style.width) +
         "\n\n" + AnswerTable(answer.gpus, columns, 4, style) + DoubtText(answer.frame, style);
}

struct GpusCommand {};

int Run(GpusCommand&, const CommandContext& context) {
  const Result<json> answer = context.api.Get("/v1/gpus");
  return PrintAnswer<api::Gpus>(answer, context.console, GpusText);
}

void AddOptions(GpusCommand&, Options& options) {
  options.Clusters();
  options.JsonAndPlace();
}

}  // namespace

Command MakeGpusCommand() {
  return MakeCommand<GpusCommand>("gpus", "GPUs of the cluster: total, usable, free, and waits",
                                  AddOptions, Run);
}

}  // namespace gpuadvise::client
