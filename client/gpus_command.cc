#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/answer_reader.h"
#include "client/commands.h"
#include "client/display.h"
#include "client/exit_code.h"
#include "client/text_table.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

std::string Wait(const json& gpu, const char* key) {
  const auto seconds = OptionalNumber(gpu, key);
  return seconds ? DurationInWords(*seconds) : "–";
}

std::string Memory(const json& gpu) {
  const double bytes = NumberOf(gpu, "memory_bytes");
  return bytes > 0 ? fmt::format("{:.0f} GiB", bytes / (1 << 30)) : "–";
}

std::string NodesTimesGpus(const json& gpu) {
  return fmt::format("{} × {}", IntOf(gpu, "nodes"), IntOf(gpu, "gpus_per_node"));
}

std::string Joined(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

template <typename Cell>
TextColumn Column(const char* header, const json& gpus, Align align, Cell cell) {
  TextColumn column{header, {}, align};
  for (const json& gpu : gpus) column.cells.push_back(cell(gpu));
  return column;
}

TextColumn WaitColumn(const char* header, const json& gpus, const char* key) {
  return Column(header, gpus, Align::kRight, [key](const json& gpu) { return Wait(gpu, key); });
}

TextColumn CountColumn(const char* header, const json& gpus, const char* key) {
  return Column(header, gpus, Align::kRight,
                [key](const json& gpu) { return std::to_string(IntOf(gpu, key)); });
}

std::vector<TextColumn> Columns(const json& gpus) {
  return {
      Column("GPU", gpus, Align::kLeft, [](const json& gpu) { return TextOf(gpu, "gpu_name"); }),
      CountColumn("FREE", gpus, "free"),
      CountColumn("USABLE", gpus, "usable"),
      CountColumn("TOTAL", gpus, "total"),
      WaitColumn("1 GPU", gpus, "wait_one_seconds"),
      WaitColumn("½ NODE", gpus, "wait_half_node_seconds"),
      WaitColumn("NODE", gpus, "wait_node_seconds"),
      WaitColumn("2 NODES", gpus, "wait_two_nodes_seconds"),
      Column("MEMORY", gpus, Align::kRight, Memory),
      Column("NODES × GPUS", gpus, Align::kLeft, NodesTimesGpus),
      Column("GRES", gpus, Align::kLeft,
             [](const json& gpu) { return Joined(TextsOf(gpu, "gres_types")); }),
      Column("PARTITIONS", gpus, Align::kLeft,
             [](const json& gpu) { return Joined(TextsOf(gpu, "partitions")); }),
  };
}

std::string GpusText(const json& answer, const Look& look) {
  std::vector<TextColumn> columns = Columns(ListOf(answer, "gpus"));
  while (columns.size() > 4 && TableWidth(columns) > look.width) columns.pop_back();
  std::string text =
      Clipped("GPUs · " + ClusterAndAge(answer) + " · waits (p50) for a job of one hour",
              look.width) +
      "\n\n";
  const std::vector<std::string> lines = TableLines(columns, look.width);
  for (size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? Bold(lines[i], look.colour) : lines[i]) + "\n";
  }
  if (const std::string stale = StaleSentence(answer); !stale.empty()) {
    text += Yellow("Warning: " + stale, look.colour) + "\n";
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
    console.Print(GpusText(*answer, console.look()));
  }
  return kExitOk;
}

}  // namespace gpuadvise
