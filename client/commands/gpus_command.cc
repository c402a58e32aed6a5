#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
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

AnswerColumn WaitColumn(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& gpu) { return Wait(gpu, key); }};
}

AnswerColumn CountColumn(const char* header, const char* key) {
  return {header, Align::kRight,
          [key](const json& gpu) { return std::to_string(IntOf(gpu, key)); }};
}

AnswerColumn NamesColumn(const char* header, const char* key) {
  return {header, Align::kLeft, [key](const json& gpu) { return Join(TextsOf(gpu, key), ","); }};
}

std::vector<AnswerColumn> GpusColumns() {
  return {{"GPU", Align::kLeft, [](const json& gpu) { return TextOf(gpu, "gpu_name"); }},
          CountColumn("FREE", "free"),
          CountColumn("USABLE", "usable"),
          CountColumn("TOTAL", "total"),
          WaitColumn("1 GPU", "wait_one_seconds"),
          WaitColumn("½ NODE", "wait_half_node_seconds"),
          WaitColumn("NODE", "wait_node_seconds"),
          WaitColumn("2 NODES", "wait_two_nodes_seconds"),
          {"MEMORY", Align::kRight, Memory},
          {"NODES × GPUS", Align::kLeft, NodesTimesGpus},
          NamesColumn("GRES", "gres_types"),
          NamesColumn("PARTITIONS", "partitions")};
}

std::string GpusText(const json& answer, const TerminalStyle& style) {
  std::string text =
      Clipped("GPUs · " + ClusterAndAge(answer) + " · waits (p50) for a job of one hour",
              style.width) +
      "\n\n";
  text += AnswerTable(ListOf(answer, "gpus"), GpusColumns(), 4, style);
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
