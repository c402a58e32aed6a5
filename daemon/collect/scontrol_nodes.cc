#include "common/node_state.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise {
namespace {

/// Slurm adds who set the reason and when: "fan broken [root@1795218015]".
std::string ReasonText(std::string_view reason) {
  const size_t note = reason.rfind(" [");
  const bool has_note = note != std::string_view::npos && reason.ends_with(']') &&
                        reason.find('@', note) != std::string_view::npos;
  return std::string(Trim(has_note ? reason.substr(0, note) : reason));
}

/// CPUEfctv came with 22.05; before, the specialised cores are still in CPUTot.
int64_t UsableCpus(const TextRecord& record) {
  const int64_t specialised =
      record.Integer("CoreSpecCount") * std::max<int64_t>(record.Integer("ThreadsPerCore", 1), 1);
  return record.Integer("CPUEfctv", record.Integer("CPUTot") - specialised);
}

Node ParseNode(const TextRecord& record) {
  Node node;
  node.name = record.Get("NodeName");
  node.state = ParseNodeState(record.Get("State"));
  node.reason = ReasonText(record.Get("Reason"));
  node.cpus = UsableCpus(record);
  node.cpus_allocated = record.Integer("CPUAlloc");
  node.threads_per_core = record.Integer("ThreadsPerCore", 1);
  node.memory_mib = record.Integer("RealMemory") - record.Integer("MemSpecLimit");
  node.memory_allocated_mib = record.Integer("AllocMem");
  const Gres all = GresOf(record.Get("Gres"));
  const Gres used = GresOf(record.Get("GresUsed"));
  node.gpus = all.gpus;
  node.gpus_allocated = used.gpus;
  node.shards = all.shards;
  node.shards_allocated = used.shards;
  node.features = record.List("ActiveFeatures");
  node.weight = record.Integer("Weight", 1);
  return node;
}

}  // namespace

std::vector<Node> ParseNodes(std::string_view text) {
  std::vector<Node> nodes;
  for (const TextRecord& record : ParseRecords(text, "NodeName")) {
    Node node = ParseNode(record);
    if (!node.name.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace gpuadvise
