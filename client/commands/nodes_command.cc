// `gpuadvise nodes`: what is free on each node, when more will be, and why a node takes no job.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/api/nodes.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/net/http_call.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Node = api::ClusterNode;

struct NodesCommand {
  std::string partition, gpu, condition, search;  // "": any
};

std::string Target(const NodesCommand& command) {
  std::string target = "/v1/nodes?limit=1000";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) target += fmt::format("&{}={}", name, QueryEncoded(value));
  };
  add("partition", command.partition);
  add("gpu", command.gpu);
  add("condition", command.condition);
  add("search", command.search);
  return target;
}

// "2 of 6 L40S".
std::string FreeGpus(const Node& node) {
  std::vector<std::string> types;
  for (const api::NodeGpus& gpus : node.gpus) {
    types.push_back(fmt::format("{} of {} {}", gpus.free, gpus.total, gpus.gpu_name));
  }
  return types.empty() ? "–" : Join(types, ", ");
}

// Why the node takes no job, or less than its idle GPUs suggest.
std::string Remark(const Node& node, int64_t now) {
  std::vector<std::string> parts;
  if (!node.reason.empty()) parts.push_back(node.reason);
  if (node.promised) {
    const auto& job = node.promised->job_id;
    parts.push_back(fmt::format("kept for {} until {}",
                                job ? fmt::format("job {}", *job) : std::string("a waiting job"),
                                ClockTime(node.promised->start, now)));
  }
  if (node.reserved) {
    std::string reserved = "reserved";
    if (node.reserved->name) reserved += " as " + *node.reserved->name;
    if (node.reserved->start.value_or(0) > now) {
      reserved += " from " + ClockTime(*node.reserved->start, now);
    }
    if (node.reserved->end) reserved += " until " + ClockTime(*node.reserved->end, now);
    parts.push_back(reserved);
  }
  return Join(parts, "; ");
}

std::vector<ColumnOf<Node>> NodesColumns(int64_t now) {
  return {TextMember("NODE", &Node::name),
          TextMember("STATE", &Node::condition),
          {"FREE GPUS", Align::kLeft, FreeGpus},
          {"NEXT END", Align::kLeft,
           [now](const Node& node) {
             return node.next_end_p50 ? ClockTime(*node.next_end_p50, now) : std::string("–");
           }},
          CountMember("JOBS", &Node::jobs_total),
          {"PARTITIONS", Align::kLeft, [](const Node& node) { return Join(node.partitions, ","); }},
          {"REMARK", Align::kLeft, [now](const Node& node) { return Remark(node, now); }}};
}

std::string ConditionWords(const api::NodeConditions& nodes) {
  std::vector<std::string> parts;
  api::NodeConditions::Fields([&](const char* name, auto member, const auto&...) {
    if (nodes.*member > 0) parts.push_back(fmt::format("{} {}", nodes.*member, name));
  });
  return Join(parts, ", ");
}

std::string NodesText(const api::Answer<api::Nodes>& answer, int64_t now,
                      const TerminalStyle& style) {
  std::vector<std::string> head = {Plural(answer.total, "node")};
  if (const std::string words = ConditionWords(answer.conditions); !words.empty()) {
    head.push_back(words);
  }
  head.push_back(ClusterAndAge(answer.frame));
  constexpr size_t kLeastColumns = 4;
  std::string text = Clipped(Join(head, " · "), style.width) + "\n";
  if (!answer.nodes.empty()) {
    text += "\n" + AnswerTable(answer.nodes, NodesColumns(now), kLeastColumns, style);
  }
  const auto shown = static_cast<int64_t>(answer.nodes.size());
  if (shown < answer.total) {
    text +=
        fmt::format("and {} more; narrow with -p, --gpu or --condition\n", answer.total - shown);
  }
  return text + DoubtText(answer.frame, style);
}

int Run(NodesCommand& command, const CommandContext& context) {
  const int64_t now = context.console.now();
  const Result<json> answer = context.api.Get(Target(command));
  return PrintAnswer<api::Nodes>(
      answer, context.console,
      [now](const auto& nodes, const auto& style) { return NodesText(nodes, now, style); });
}

void AddOptions(NodesCommand& command, Options& options) {
  options.Value("-p,--partition NAME", command.partition, "Only nodes of this partition");
  options.Value("--gpu NAME", command.gpu, "Only nodes with this GPU, by its id in `gpus --json`");
  options.Value("--condition WORD", command.condition,
                "Only free, partly, busy, promised, drained or down nodes");
  options.Value("--search TEXT", command.search,
                "Only with this in name, feature, state or reason");
  options.JsonAndPlace();
}

}  // namespace

Command MakeNodesCommand() {
  return MakeCommand<NodesCommand>(
      "nodes", "Nodes: free GPUs, the next end, why a node is not used", AddOptions, Run);
}

}  // namespace gpuadvise::client
