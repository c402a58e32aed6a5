// GET /v1/gpus: per GPU type what there is, what is free, and how long one would wait.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/api/gpus.h"
#include "common/gpu/gpu_pool.h"
#include "common/slurm/gres.h"
#include "common/slurm/node_state.h"
#include "daemon/answers/answers.h"

namespace gpuadvise::daemon {

namespace {

constexpr int64_t kAskedLimitSeconds = 3600;

// One GPU type over all partitions: a node that is in several of them counts once.
struct TypeRow {
  std::vector<const GpuPool*> pools;
  std::set<std::pair<const Node*, std::string>> gpus;  // node and GRES type
};

std::map<std::string, TypeRow> RowsByType(const std::vector<GpuPool>& pools,
                                          std::vector<std::string>& order) {
  std::map<std::string, TypeRow> rows;
  for (const GpuPool& pool : pools) {
    if (!rows.contains(pool.Id())) order.push_back(pool.Id());
    TypeRow& row = rows[pool.Id()];
    row.pools.push_back(&pool);
    for (const Node* node : pool.nodes) row.gpus.emplace(node, pool.gres_type);
  }
  return rows;
}

// Median wait of `gpus` per node on `nodes` nodes, in the partition where it starts first; nullopt:
// it starts in none.
std::optional<int64_t> WaitOf(const TypeRow& row, int64_t gpus, int64_t nodes,
                              const AdviceContext& context, const Submitter& caller) {
  std::optional<int64_t> best;
  for (const GpuPool* pool : row.pools) {
    JobRequest request;
    request.partitions = {pool->partition->name};
    request.nodes_min = nodes;
    request.tasks = nodes;
    request.cpus = nodes;
    request.gpus_per_node = {{pool->gres_type, gpus}};
    request.time_limit_seconds = kAskedLimitSeconds;
    Result<StartSamples> start = StartOf(context.queue, request, caller, context.Samples());
    if (!start) continue;
    int64_t wait = std::llround(start->Quantile(.5));
    if (!best || wait < *best) best = wait;
  }
  return best;
}

void CountGpus(const TypeRow& row, api::GpuType& counts) {
  std::set<const Node*> nodes;
  for (const auto& [node, type] : row.gpus) {
    nodes.insert(node);
    counts.total += GpusOfType(node->gpus, type);
    if (IsUsable(node->state)) counts.usable += GpusOfType(node->gpus, type);
    counts.free += CountFreeGpus(*node, type);
  }
  counts.nodes = static_cast<int64_t>(nodes.size());
}

api::GpuType RowOfType(const TypeRow& row, const AdviceContext& context, const Submitter& caller) {
  const GpuPool& first = *row.pools.front();
  std::set<std::string> types, partitions;
  int64_t per_node = 0;
  for (const GpuPool* pool : row.pools) {
    types.insert(pool->gres_type);
    partitions.insert(pool->partition->name);
    per_node = std::max(per_node, pool->gpus_per_node);
  }
  api::GpuType answer;
  answer.gpu = first.Id();
  answer.gpu_name = first.Name();
  answer.gres_types.assign(types.begin(), types.end());
  answer.partitions.assign(partitions.begin(), partitions.end());
  if (first.model != nullptr) {
    answer.memory_bytes = first.model->memory_bytes;
    answer.catalogue = EntryOf(*first.model);
  }
  answer.interconnect = {first.interconnect.link_gb_per_s, first.interconnect.network_gb_per_s};
  answer.gpus_per_node = per_node;
  CountGpus(row, answer);
  const auto wait = [&](int64_t gpus, int64_t nodes) {
    return WaitOf(row, gpus, nodes, context, caller);
  };
  answer.wait_one_seconds = wait(1, 1);
  answer.wait_half_node_seconds = wait(std::max<int64_t>(1, per_node / 2), 1);
  answer.wait_node_seconds = wait(per_node, 1);
  answer.wait_two_nodes_seconds = wait(per_node, 2);
  return answer;
}

}  // namespace

nlohmann::json AnswerGpus(const AdviceContext& context, const Submitter& caller) {
  const std::vector<GpuPool>& pools = context.Pools();
  std::vector<std::string> order;
  const std::map<std::string, TypeRow> rows = RowsByType(pools, order);
  api::Gpus answer;
  answer.gpus.resize(order.size());
  context.for_each(order.size(), [&](size_t i) {
    answer.gpus[i] = RowOfType(rows.at(order[i]), context, caller);
  });
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
