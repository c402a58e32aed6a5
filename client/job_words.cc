#include "client/job_words.h"

#include <nlohmann/json.hpp>

#include "client/answer_reader.h"
#include "client/shell_quote.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

std::string Number(const json& strategy, const char* key, int64_t other = 1) {
  return std::to_string(IntOf(strategy, key, other));
}

std::string AllGpus(const json& strategy) {
  return std::to_string(IntOf(strategy, "gpus_per_node", 1) * IntOf(strategy, "nodes", 1));
}

}  // namespace

Placeholders StrategyWords(const json& spec, const json& strategy) {
  const bool several = IntOf(strategy, "nodes", 1) > 1;
  return {
      {"micro_batch", Number(strategy, "micro_batch")},
      {"accumulation", Number(strategy, "accumulation")},
      {"effective_batch_size", Number(strategy, "effective_batch_size")},
      {"gpus_per_node", Number(strategy, "gpus_per_node")},
      {"nodes", Number(strategy, "nodes")},
      {"gpus", AllGpus(strategy)},
      {"steps", Number(strategy, "steps", 0)},
      {"samples", Number(strategy, "samples", 0)},
      {"cpus_per_task", Number(ObjectOf(strategy, "sbatch"), "cpus_per_task")},
      {"precision", SafeName(TextOf(strategy, "precision"))},
      {"gpu", SafeName(TextOf(strategy, "gpu"))},
      {"partition", SafeName(TextOf(strategy, "partition"))},
      {"name", SafeName(TextOf(spec, "name"))},
      {"output_dir", "\"$GPUADVISE_OUTPUT_DIR\""},
      {"node_rank", several ? "$SLURM_NODEID" : "0"},
      {"master_addr", several ? "$MASTER_ADDR" : "localhost"},
      {"master_port", several ? "$MASTER_PORT" : "29500"},
  };
}

std::vector<std::pair<std::string, std::string>> StrategyEnvironment(const json& strategy,
                                                                     const std::string& advice_id) {
  return {
      {"GPUADVISE_ADVICE", SafeName(advice_id)},
      {"GPUADVISE_GPU", SafeName(TextOf(strategy, "gpu"))},
      {"GPUADVISE_GPUS_PER_NODE", Number(strategy, "gpus_per_node")},
      {"GPUADVISE_NODES", Number(strategy, "nodes")},
      {"GPUADVISE_MICRO_BATCH", Number(strategy, "micro_batch")},
      {"GPUADVISE_ACCUMULATION", Number(strategy, "accumulation")},
      {"GPUADVISE_EFFECTIVE_BATCH_SIZE", Number(strategy, "effective_batch_size")},
      {"GPUADVISE_PRECISION", SafeName(TextOf(strategy, "precision"))},
  };
}

}  // namespace gpuadvise
