#include "common/memory/media_work.h"

#include <algorithm>
#include <string_view>

namespace gpuadvise {
namespace {

constexpr double kBlockAtWork = 1.3;  // a recomputed block with its gradients
constexpr double kBlockInBackward = 0.3;
constexpr double kSelectiveBlocks = 0.5;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Reads target_modules: diffusers' to_q, to_k, to_v, to_out.0 and add_k_proj …, Transformers'
// q_proj, query …; ff.net.0.proj, fc1, linear_1 … mean the MLP.
void ReadTargets(const std::vector<std::string>& targets, MediaTraining& training) {
  bool query = false, key = false, value = false, out = false;
  for (const std::string& name : targets) {
    const bool all = name == "all-linear";
    const bool fused = Has(name, "qkv");
    const bool is_query = Has(name, "to_q") || Has(name, "q_proj") || Has(name, "query");
    const bool is_key = Has(name, "to_k") || Has(name, "k_proj") || Has(name, "key");
    const bool is_value = Has(name, "to_v") || Has(name, "v_proj") || Has(name, "value");
    const bool is_out = Has(name, "to_out") || Has(name, "to_add_out") || Has(name, "out_proj") ||
                        Has(name, "o_proj");
    query = query || all || fused || is_query;
    key = key || all || fused || is_key;
    value = value || all || fused || is_value;
    out = out || all || is_out;
    training.mlp_adapted = training.mlp_adapted || all || Has(name, "ff") || Has(name, "fc") ||
                           Has(name, "mlp") || Has(name, "linear") || Has(name, "dense");
  }
  training.attention_adapted = (query + key + value + out) / 4.0;
}

}  // namespace

void ReadAdapterTargets(const MediaNetwork& network, const std::vector<std::string>& targets,
                        MediaTraining& training) {
  const bool diffusion = std::holds_alternative<UnetShape>(network.shape) ||
                         std::holds_alternative<DitShape>(network.shape);
  training.mlp_adapted = targets.empty() && !diffusion;
  if (!targets.empty()) ReadTargets(targets, training);
}

MediaActivations CountMediaActivations(const SampleWork& sample, Checkpointing checkpointing,
                                       int64_t micro_batch) {
  const auto batch = static_cast<double>(micro_batch);
  MediaActivations bytes{sample.kept_bytes, kBlockInBackward * sample.largest_block_bytes};
  if (checkpointing == Checkpointing::kFull) {
    bytes = {sample.checkpointed_bytes, kBlockAtWork * sample.largest_block_bytes};
  } else if (checkpointing == Checkpointing::kSelective) {
    bytes.kept *= kSelectiveBlocks;
  }
  // Latents are encoded before anything is kept.
  bytes.at_work = std::max(bytes.at_work, sample.encode_bytes - bytes.kept);
  return {batch * bytes.kept, batch * bytes.at_work};
}

}  // namespace gpuadvise
